package askcmd

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// blanks are those between columns.
var blanks = regexp.MustCompile(` {2,}`)

func TestRequirements(t *testing.T) {
	ready := func(name, version string) v1beta2.ModuleStatus {
		return v1beta2.ModuleStatus{Name: name, State: v1beta2.StateReady, Version: version}
	}
	both := []v1beta2.Module{{Name: "notes", Channel: "fast"}, {Name: "beacon"}}
	for name, c := range map[string]struct {
		modules  []v1beta2.Module
		statuses []v1beta2.ModuleStatus
		args     string
		code     int
		want     []string
		said     string
	}{
		"everything is there": {both, []v1beta2.ModuleStatus{ready("notes", "1.1.0"), ready("beacon", "0.1.0")}, "notes", 0, []string{
			"needs|module beacon (>=0.1 <1)|Ready|0.1.0", "needs|definition kymas.operator.kyma-project.io served as v1beta2|Ready|-", "needs|Kubernetes >=1.20|Ready|-",
		}, ""},
		"a module is missing":         {both[:1], nil, "notes", 2, []string{"needs|module beacon (>=0.1 <1)|Missing|-"}, ""},
		"another version is there":    {both, []v1beta2.ModuleStatus{ready("beacon", "1.0.0")}, "notes:fast", 2, []string{"needs|module beacon (>=0.1 <1)|WrongVersion|1.0.0"}, ""},
		"it is needed by others":      {both, []v1beta2.ModuleStatus{ready("notes", "1.1.0"), ready("beacon", "0.1.0")}, "beacon", 0, []string{"needed by|module notes (needs >=0.1 <1)|Ready|-"}, ""},
		"a version needs nothing":     {nil, nil, "notes@1.0.0", 0, nil, "notes 1.0.0 needs nothing, and nothing needs it."},
		"a version that is not there": {nil, nil, "notes:9.0.0", 4, nil, "there is no ModuleTemplate of notes 9.0.0"},
		"a channel that is not there": {nil, nil, "notes:slow", 4, nil, "module notes has no channel slow"},
		"a module that is not there":  {nil, nil, "note", 4, nil, "did you mean notes? Known modules: beacon, notes"},
		"a module that cannot be":     {nil, nil, "notes:1.0.0:2", 64, nil, "neither a version such as 1.2.3 nor a channel"},
		"two modules":                 {nil, nil, "notes beacon", 64, nil, "name one module"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma(c.modules, c.statuses...)
			code, out, said := b.run(append([]string{"requirements"}, strings.Fields(c.args)...)...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			text := blanks.ReplaceAllString(out, "|")
			for _, line := range c.want {
				if !strings.Contains(text, line) {
					t.Errorf("%q is not in:\n%s", line, out)
				}
			}
		})
	}
}

func TestRequirements_WithoutAKyma(t *testing.T) {
	b := newBench(t)
	code, out, said := b.run("requirements", "notes:fast", "-o", "json")
	var got requirementsDocument
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit code %d, %s: %v", code, said, err)
	}
	var states []kymaedit.Met
	for _, one := range got.Items {
		states = append(states, one.State)
	}
	want := []kymaedit.Met{kymaedit.MetUnknown, kymaedit.MetUnknown, kymaedit.MetUnknown}
	if diff := cmp.Diff(want, states); diff != "" || got.Kind != "ModuleRequirements" || got.Kyma != "" || got.Version != "1.1.0" {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	if code, _, said := b.run("requirements", "notes", "--kyma", "none"); code != 4 || !strings.Contains(said, "there is no Kyma NS/none") {
		t.Errorf("a Kyma that is not there: exit code %d, said %q", code, said)
	}
}
