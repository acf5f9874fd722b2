package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

const clusterRole = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: wrong}\n"

func TestNormalisePutsObjectsIntoNamespaces(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		target string
		want   []string
	}{
		"what names no namespace goes to the target":  {rendertest.Config("a"), "kyma-system", []string{"ConfigMap kyma-system/a"}},
		"without a target it goes to default":         {rendertest.Config("a"), "", []string{"ConfigMap default/a"}},
		"what names a namespace stays there":          {rendertest.Config("a") + "  namespace: x\n", "kyma-system", []string{"ConfigMap x/a"}},
		"cluster-scoped objects lose their namespace": {clusterRole, "kyma-system", []string{"ClusterRole.rbac.authorization.k8s.io r"}},
		"objects of unknown scope stay as they are": {
			"apiVersion: x.io/v1\nkind: A\nmetadata: {name: a}\n", "kyma-system", []string{"A.x.io a"},
		},
		"equal objects that fall together are one": {
			rendertest.Config("a") + "---\n" + rendertest.Config("a") + "  namespace: x\n", "x", []string{"ConfigMap x/a"},
		},
		"the order is kept":         {rendertest.Config("b") + "---\n" + rendertest.Config("a"), "x", []string{"ConfigMap x/b", "ConfigMap x/a"}},
		"no objects are no objects": {"", "x", nil},
		"a kind that the content defines is in a scope": {
			rendertest.Definition("x.io", "A", "Namespaced") + "---\napiVersion: x.io/v1\nkind: A\nmetadata: {name: a}\n", "y",
			[]string{"CustomResourceDefinition.apiextensions.k8s.io as.x.io", "A.x.io y/a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := parse(t, test.text)
			normal, err := Normalise(objects, test.target, FirstKnown(BuiltinScope, Scopes(objects).Scope))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, rendertest.Identities(normal)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNormaliseRefusesDifferentObjectsThatFallTogether(t *testing.T) {
	objects := parse(t, rendertest.Config("a")+"---\n"+rendertest.Config("a")+"  namespace: x\ndata: {k: v}\n")
	_, err := Normalise(objects, "x", BuiltinScope)
	if content.ReasonOf(err) != content.ReasonContentInvalid || !strings.Contains(err.Error(), "ConfigMap x/a is declared twice") {
		t.Errorf("error %v", err)
	}
}

func TestMarkAddsLabelsAndAnnotations(t *testing.T) {
	objects := parse(t, rendertest.Config("a")+"  labels: {own: x, mark: old}\n---\n"+rendertest.Config("b"))
	marked := Mark(objects, Marks{Labels: map[string]string{"mark": "new"}, Annotations: map[string]string{"note": "n"}})
	want := []map[string]any{
		{"name": "a", "labels": map[string]any{"own": "x", "mark": "new"}, "annotations": map[string]any{"note": "n"}},
		{"name": "b", "labels": map[string]any{"mark": "new"}, "annotations": map[string]any{"note": "n"}},
	}
	for i, object := range marked {
		if diff := cmp.Diff(want[i], object.Object["metadata"]); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(parse(t, rendertest.Config("b"))[0].Object, Mark(objects, Marks{})[1].Object); diff != "" {
		t.Errorf("no marks changed an object (-want +got):\n%s", diff)
	}
}

// Rendered content is shared by every Manifest with the same digest.
func TestTransformsLeaveTheirInputAlone(t *testing.T) {
	text := rendertest.Config("a") + "  labels: {own: x}\n---\n" + clusterRole
	objects, untouched := parse(t, text), parse(t, text)
	normal, err := Normalise(objects, "x", BuiltinScope)
	if err != nil {
		t.Fatal(err)
	}
	marked := Mark(normal, Marks{Labels: map[string]string{"mark": "m"}})
	marked[0].Object["data"] = map[string]any{"k": "v"}
	_ = unstructured.SetNestedField(marked[0].Object, "y", "metadata", "labels", "own")
	if diff := cmp.Diff(untouched, objects); diff != "" {
		t.Errorf("input changed (-before +after):\n%s", diff)
	}
	if got := normal[0].GetLabels()["own"]; got != "x" {
		t.Errorf("a change of a marked object reached the normalised one: label is %q", got)
	}
}
