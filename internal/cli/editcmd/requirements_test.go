package editcmd

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// needs lets the template of a version need other modules.
func (b *bench) needs(name string, requires ...v1beta2.Requirement) {
	b.Helper()
	template := &v1beta2.ModuleTemplate{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, template); err != nil {
		b.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"requires": requires}})
	if err == nil {
		err = b.Patch(b.Context(), template, client.RawPatch("application/merge-patch+json", patch))
	}
	if err != nil {
		b.Fatal(err)
	}
}

func TestAddAndDelete_WithRequirements(t *testing.T) {
	both := []v1beta2.Module{{Name: "notes"}, {Name: "beacon", Channel: "fast"}}
	for name, c := range map[string]struct {
		have  []v1beta2.Module
		args  string
		typed string
		code  int
		want  string
		said  string
	}{
		"what is missing is said": {nil, "add notes --wait=false", "", 0, "notes", "notes needs module beacon (>=0.1), which Kyma"},
		"a module that waits is not waited for": {nil, "add notes", "", 2, "notes",
			"Error: notes waits for module beacon (>=0.1)\nHint: it is installed at once when that is there"},
		"what is missing is added":                 {nil, "add notes --with-requirements --yes --wait=false", "", 0, "beacon:fast notes", ""},
		"a terminal asks":                          {nil, "add notes --with-requirements --wait=false", "y", 0, "beacon:fast notes", "Add beacon 0.1.0 (for notes) to Kyma"},
		"no changes nothing":                       {nil, "add notes --with-requirements --wait=false", "n", 1, "", ""},
		"without a terminal it is asked":           {nil, "add notes --with-requirements --wait=false", "", 64, "", "--yes confirms it"},
		"a dry run shows all of it":                {nil, "add notes --with-requirements --dry-run=client", "", 0, "", "name: beacon"},
		"what is requested with it is not missing": {nil, "add notes beacon:fast --wait=false", "", 0, "notes beacon:fast", ""},
		"nothing can be added":                     {nil, "add notes@1.1.0 --with-requirements --yes --wait=false", "", 0, "notes@1.1.0", "notes needs module unicorn, and it is not available here."},
		"community modules have none":              {nil, "add notes --community --with-requirements", "", 64, "", "is for modules of a Kyma"},
		"the strategy is set":                      {both, "add notes --upgrade-strategy Manual --wait=false", "", 0, "notes beacon:fast", ""},
		"the strategy of an upgrade":               {both, "upgrade notes --upgrade-strategy Manual --wait=false", "", 0, "notes beacon:fast", ""},
		"a strategy that there is not":             {both, "upgrade notes --upgrade-strategy Never", "", 64, "notes beacon:fast", "use Automatic or Manual"},

		"a module that others need stays": {both, "delete beacon --yes --wait=false", "", 1, "notes beacon:fast",
			"module beacon cannot be deleted: module notes needs it: delete that first, or use --cascade\nHint: --cascade=preview shows what would be deleted\n"},
		"both can go":                        {both, "delete beacon notes --yes --wait=false", "", 0, "", ""},
		"a cascade shows and takes the rest": {both, "delete beacon --cascade --yes --wait=false", "", 0, "", "  module notes (needs beacon)"},
		"and asks about all of it":           {both, "delete beacon --cascade --wait=false", "n", 1, "notes beacon:fast", "Delete notes, beacon from Kyma"},
		"a preview only shows":               {both, "delete beacon --cascade=preview -o json", "", 0, "notes beacon:fast", ""},
		"what needs others can go":           {both, "delete notes --yes --wait=false", "", 0, "beacon:fast", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.needs("notes-1.0.0", v1beta2.Requirement{Module: "beacon", Version: ">=0.1"})
			b.needs("notes-1.1.0", v1beta2.Requirement{Module: "unicorn"})
			b.kyma("demo", c.have...)
			to := &console.Console{In: strings.NewReader(c.typed + "\n"), Asks: c.typed != ""}
			code, out, said := b.runAs(to, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			if got := b.entries("demo"); got != c.want {
				t.Errorf("the Kyma has %q, want %q", got, c.want)
			}
			if strings.Contains(c.args, "preview") && !strings.Contains(out, `"module": "notes"`) {
				t.Errorf("wrote %q", out)
			}
			if strings.Contains(c.args, "Manual") && b.read("demo").Spec.Modules[0].UpgradeStrategy != v1beta2.UpgradeManual {
				t.Errorf("the entry is %+v", b.read("demo").Spec.Modules[0])
			}
		})
	}
}
