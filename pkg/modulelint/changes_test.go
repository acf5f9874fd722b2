package modulelint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// TestDefinitionsAreComparedWithAnEarlierVersion: a change of the definition is reported by rule, at the position of the definition.
func TestDefinitionsAreComparedWithAnEarlierVersion(t *testing.T) {
	earlier, err := render.Parse(strings.NewReader(sample(t)[manifest]), render.DefaultLimit)
	if err != nil {
		t.Fatal(err)
	}
	narrower := edit{manifest, "title: {type: string, minLength: 1}", "title: {type: string, minLength: 2, maxLength: 9}"}
	for name, c := range map[string]struct {
		edits []edit
		want  []string
	}{
		"nothing changes": {nil, nil},
		"a narrower field": {[]edit{narrower}, []string{
			"manifest.yaml:6 crd-change: an upgrade of CustomResourceDefinition.apiextensions.k8s.io notes.notes.example.com is refused in every" +
				" cluster that has an object of the kind: BoundNarrowed (2): v1 spec.title: maxLength changes from none to 9;" +
				" v1 spec.title: minLength changes from 1 to 2",
		}},
		"the configuration allows it": {[]edit{narrower, {config, "team: notes", "team: notes\nallowCRDChanges: [BoundNarrowed]"}}, nil},
		"every cluster refuses another scope": {[]edit{{manifest, "scope: Namespaced", "scope: Cluster"}}, []string{
			"manifest.yaml:6 crd-change: an upgrade of CustomResourceDefinition.apiextensions.k8s.io notes.notes.example.com is refused in every" +
				" cluster that has the definition: ScopeChanged (1): the scope changes from Namespaced to Cluster",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Lint(sample(t).edited(t, c.edits).module(t), Options{Against: earlier}) {
				got = append(got, fmt.Sprintf("%s:%d %s: %s", f.File, f.Line, f.Rule, f.Message))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
