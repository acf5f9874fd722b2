package editcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

func TestAdd_WithValues(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	base, over := file("base.yaml", "colour: red\nsize: {of: 1}\n"), file("over.yaml", "size: {of: 2}\n")
	list, null := file("list.yaml", "- a\n"), file("null.yaml", "size: {of: }\n")
	for name, c := range map[string]struct {
		args string
		code int
		want string
		said string
	}{
		"values are written into the entry": {"add notes --values " + base, 0, `{"colour":"red","size":{"of":1}}`, ""},
		"the last file counts first":        {"add notes --values " + base + " --values " + over, 0, `{"colour":"red","size":{"of":2}}`, ""},
		"without the flag there are none":   {"add notes", 0, "", ""},
		"they are for one module":           {"add notes beacon --values " + base, 64, "", "--values: values are for one module of a Kyma"},
		"community modules take none":       {"add notes --community --set a=1", 64, "", "--set: values are for one module of a Kyma"},
		"a list is refused":                 {"add notes --values " + list, 1, "", "list.yaml: the values cannot be read"},
		"a null is refused":                 {"add notes --values " + null, 1, "", `--values cannot be used: "values.size.of" is null`},
		"a single value is set":             {"add notes --set size.of=3 --set-string colour=1", 0, `{"colour":"1","size":{"of":3}}`, ""},
		"it counts before files":            {"add notes --set size.of=3 -f " + base, 0, `{"colour":"red","size":{"of":3}}`, ""},
		"a null is refused there, too":      {"add notes --set size[1].of=null", 1, "", `--set cannot be used: "values.size[1].of" is null`},
		"a value without a key is refused":  {"add notes --set red", 64, "", `--set red: key "red" has no value`},
		"more than an entry may have is refused": {
			"add notes --set a=" + strings.Repeat("x", v1beta2.MaxEntryValues), 1, "", "--set cannot be used: they have 8200 bytes, and at most 8192 are accepted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma("demo")
			code, _, said := b.runAs(&console.Console{In: strings.NewReader("")}, strings.Fields(c.args+" --wait=false")...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			if modules := b.read("demo").Spec.Modules; valuesOf(modules) != c.want {
				t.Errorf("the entry has values %s, want %s", valuesOf(modules), c.want)
			}
		})
	}
}

// Values of other entries count, too, and what is replaced is told.
func TestAdd_WithValuesBesideOthers(t *testing.T) {
	b := newBench(t)
	full := &runtime.RawExtension{Raw: []byte(`{"a":"` + strings.Repeat("x", v1beta2.MaxEntryValues-8) + `"}`)}
	modules := []v1beta2.Module{{Name: "notes", Values: &runtime.RawExtension{Raw: []byte(`{"colour":"red","size":1,"to":{"a":1}}`)}}}
	for i := range 11 {
		modules = append(modules, v1beta2.Module{Name: fmt.Sprintf("other-%d", i), Values: full})
	}
	b.kyma("demo", modules...)
	code, _, said := b.run("add", "notes", "--set", "size=2", "--wait=false")
	if want := "notes: these values take the place of those that the Kyma had. No longer set: colour, to."; code != 0 || !strings.Contains(said, want) {
		t.Errorf("exit code %d, said %q, want %q in it", code, said, want)
	}
	if values := valuesOf(b.read("demo").Spec.Modules); values != `{"size":2}` {
		t.Errorf("the entry has values %s", values)
	}
	if code, _, said = b.run("add", "notes", "--set", "size=2", "--wait=false"); code != 0 || strings.Contains(said, "take the place") {
		t.Errorf("once more: exit code %d, said %q", code, said)
	}
	code, _, said = b.run("add", "beacon", "--channel", "fast", "--set", "a="+strings.Repeat("x", v1beta2.MaxEntryValues-8), "--wait=false")
	if want := "values for module beacon cannot be used: those of all entries have 98314 bytes, and at most 98304 are accepted"; code != 1 ||
		!strings.Contains(said, want) {
		t.Errorf("exit code %d, said %q, want %q in it", code, said, want)
	}
	if left := len(b.read("demo").Spec.Modules); left != 12 {
		t.Errorf("the Kyma has %d entries", left)
	}
}

func valuesOf(modules []v1beta2.Module) string {
	if len(modules) == 0 || modules[0].Values == nil {
		return ""
	}
	return string(modules[0].Values.Raw)
}
