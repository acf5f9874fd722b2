package remotesync

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The API server writes the status of a definition several times; users write the rest.
func TestEnsure_ReadsADefinitionOnlyForWhatUsersChange(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	definition, crds := RuntimeCRDs()[2], c.at("CustomResourceDefinition", "")
	name := definition.Object.GetName()
	see := func() { c.see("CustomResourceDefinition") }
	see()
	ensure(t, m, c, definition)

	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"its status", func() {
			status := `{"status":{"conditions":[{"type":"Example","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
			_, err := crds.Patch(t.Context(), name, types.MergePatchType, []byte(status), metav1.PatchOptions{FieldManager: "server"}, "status")
			if err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"a label", func() { c.edit(definition, `{"metadata":{"labels":{"x":"y"}}}`) },
			"1 get customresourcedefinitions.apiextensions.k8s.io"},
		{"the spec", func() { c.edit(definition, `{"spec":{"names":{"shortNames":["theirs"]}}}`) },
			"1 get customresourcedefinitions.apiextensions.k8s.io, 1 patch customresourcedefinitions.apiextensions.k8s.io"},
		{"who owns it", func() {
			force := true
			data, err := json.Marshal(definition.Object)
			if err != nil {
				t.Fatal(err)
			}
			_, err = crds.Patch(t.Context(), name, types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "theirs", Force: &force})
			if err != nil {
				t.Fatal(err)
			}
		}, "1 get customresourcedefinitions.apiextensions.k8s.io"},
		{"its existence", func() { c.delete(definition) }, "1 patch customresourcedefinitions.apiextensions.k8s.io"},
	} {
		step.change()
		see()
		if got := c.costs(func() { ensure(t, m, c, definition) }); got != step.want {
			t.Errorf("%s: called %q, want %q", step.name, got, step.want)
		}
		see()
		if got := c.costs(func() { ensure(t, m, c, definition) }); got != "" {
			t.Errorf("%s: called %q for what is in order again", step.name, got)
		}
		if live := c.get(definition); !same(definition.Object, live) {
			t.Errorf("%s: it is not as desired: %v", step.name, live.Object)
		}
	}
}
