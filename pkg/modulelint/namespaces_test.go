package modulelint

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Objects without a namespace go to namespace default, and the author of the module must be warned.
func TestObjectsWithoutANamespaceAreTold(t *testing.T) {
	object := func(kind, metadata string) string {
		return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {" + metadata + "}\n"
	}
	for name, test := range map[string]struct {
		manifest  string
		chart     bool
		namespace string
		want      string
	}{
		"an object that names none": {manifest: object("ConfigMap", "name: a"), want: "names no namespace for ConfigMap a: a Kyma installs that into namespace default"},
		"many are counted": {
			manifest: object("ConfigMap", "name: a") + object("Secret", "name: b") + object("Service", "name: c") + object("Pod", "name: d"),
			want:     "for ConfigMap a, Secret b, Service c and 1 more: ",
		},
		"one that names one":                    {manifest: object("ConfigMap", "name: a, namespace: notes-system")},
		"one that names default":                {manifest: object("ConfigMap", "name: a, namespace: default")},
		"a chart that uses the release's":       {manifest: object("ConfigMap", "name: a, namespace: default"), chart: true, want: "ConfigMap a"},
		"a cluster-scoped kind":                 {manifest: object("Namespace", "name: a")},
		"a kind that is not known":              {manifest: "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n"},
		"a configuration that names one":        {manifest: object("ConfigMap", "name: a"), namespace: "notes-system"},
		"a chart whose configuration names one": {manifest: object("ConfigMap", "name: a, namespace: default"), chart: true, namespace: "default"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := render.Parse(strings.NewReader(test.manifest), render.DefaultLimit)
			if err != nil {
				t.Fatal(err)
			}
			found := Lint(Module{Objects: objects, Chart: test.chart, Namespace: test.namespace}, Options{Rules: []string{RuleNoNamespace}})
			switch {
			case test.want == "" && len(found) == 0:
			case len(found) != 1 || test.want == "" || found[0].Severity != diagnostics.Warning || !strings.Contains(found[0].Message, test.want):
				t.Errorf("findings %v, want %q", found, test.want)
			}
		})
	}
}
