package apply

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A definition loses the version in which an object was applied. The API server can convert the object to it no more, and would refuse
// every apply for good.
func TestApply_ObjectThatWasAppliedInAVersionThatIsGone(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	both := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
	versions, _, _ := unstructured.NestedSlice(both.Object, "spec", "versions")
	first, _ := versions[0].(map[string]any)
	second := maps.Clone(first)
	first["storage"], second["name"] = false, "v2"
	only := both.DeepCopy()
	for crd, versions := range map[*unstructured.Unstructured][]any{both: {first, second}, only: {second}} {
		if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
			t.Fatal(err)
		}
	}
	sample := func(version, spec string) *unstructured.Unstructured {
		return i.object("{apiVersion: " + i.namespace + ".example.org/" + version + ", kind: Sample, metadata: {name: a}, spec: " + spec + "}")
	}
	i.installs(Created, both)
	i.established(both)
	i.installs(Created, sample("v1", "{token: one, mode: fast}"))
	i.installs(Updated, sample("v1", "{token: two, mode: fast}")) // by server-side apply

	i.installs(Updated, only)
	i.await("the first version is not served any more", func() bool {
		i.mapper.Reset()
		_, err := i.mapper.RESTMapping(sample("v1", "{}").GroupVersionKind().GroupKind(), "v1")
		return err != nil
	})
	if live := i.installs(Updated, sample("v2", "{token: three}")); valueAt(live, "spec") != "map[size:3 token:three]" {
		t.Errorf("spec is %s", valueAt(live, "spec"))
	}
	i.rests(sample("v2", "{token: three}"))
}
