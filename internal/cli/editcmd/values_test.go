package editcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		"they are for one module":           {"add notes beacon --values " + base, 64, "", "--values are for one module of a Kyma"},
		"community modules take none":       {"add notes --community --values " + base, 64, "", "--values are for one module of a Kyma"},
		"a list is refused":                 {"add notes --values " + list, 1, "", "list.yaml: the values cannot be read"},
		"a null is refused":                 {"add notes --values " + null, 1, "", `--values cannot be used: "values.size.of" is null`},
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

func valuesOf(modules []v1beta2.Module) string {
	if len(modules) == 0 || modules[0].Values == nil {
		return ""
	}
	return string(modules[0].Values.Raw)
}
