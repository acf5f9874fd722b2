package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func named(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
}

func with(object *unstructured.Unstructured, value string) *unstructured.Unstructured {
	object.Object["value"] = value
	return object
}

// steps are one step of a part each.
func steps(objects ...*unstructured.Unstructured) (made [][]*unstructured.Unstructured) {
	for _, object := range objects {
		made = append(made, []*unstructured.Unstructured{object})
	}
	return made
}

// inNamespace is Placing.Own for namespaced objects.
func inNamespace(objects []*unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error) {
	for _, object := range objects {
		if object.GetName() == "bad" {
			return nil, errors.New("it cannot be placed")
		}
		object.SetNamespace(namespace)
	}
	return objects, nil
}

func TestArrange(t *testing.T) {
	made, err := engine.Arrange([]engine.Part{
		{Name: "first", Namespace: "n", Steps: steps(named("ConfigMap", "a"), named("Later", "b"))},
		{Name: "second", Namespace: "n", Steps: steps(named("ConfigMap", "a"), named("Namespace", "c"))},
	}, engine.Placing{Own: inNamespace, Served: func(gvk schema.GroupVersionKind) bool { return gvk.Kind != "Later" }})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Objects) != 2 || len(made.Unplaced) != 1 || made.Unplaced[0].GetName() != "b" {
		t.Errorf("objects %v, unplaced %v", made.Objects, made.Unplaced)
	}
	a, b, c := inventory.IDOf(named("ConfigMap", "a")), inventory.IDOf(named("Later", "b")), inventory.IDOf(named("Namespace", "c"))
	a.Namespace, b.Namespace, c.Namespace = "n", "n", "n"
	if made.PartOf(a) != "first" || made.PartOf(c) != "second" || made.Stage(b) != (inventory.Stage{Step: 1}) || made.FirstUnplaced() != 0 {
		t.Errorf("a is of %s, c of %s, b comes at %v, the first part with a kind that is not served is %d",
			made.PartOf(a), made.PartOf(c), made.Stage(b), made.FirstUnplaced())
	}
	if made.Declares(inventory.ID{Kind: "ConfigMap", Name: "x"}) || made.Parts() != 2 || made.PartName(1) != "second" {
		t.Error("it declares what no part has")
	}
	sorted := made.Sorted([]*unstructured.Unstructured{made.Objects[1], made.Objects[0]})
	if sorted[0].GetName() != "a" { // of the first part, though namespaces come before configuration
		t.Errorf("sorted as %v", sorted)
	}
}

func TestArrange_PlacesHooksApart(t *testing.T) {
	made, err := engine.Arrange([]engine.Part{
		{Name: "first", Namespace: "n", Steps: steps(named("ConfigMap", "a"))},
		{Name: "second", Namespace: "m", Hooks: []*unstructured.Unstructured{named("ConfigMap", "a")}},
	}, engine.Placing{Own: inNamespace})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Objects) != 1 || len(made.Hooks[0]) != 0 || len(made.Hooks[1]) != 1 || made.Hooks[1][0].GetNamespace() != "m" {
		t.Errorf("objects %v, hooks %v", made.Objects, made.Hooks)
	}
}

func TestArrange_Refuses(t *testing.T) {
	for name, test := range map[string]struct {
		parts []engine.Part
		text  string
	}{
		"one object in two ways": {[]engine.Part{
			{Name: "first", Namespace: "n", Steps: steps(with(named("ConfigMap", "a"), "1"))},
			{Name: "second", Namespace: "n", Steps: steps(with(named("ConfigMap", "a"), "2"))},
		}, "ConfigMap n/a is declared differently by first and second: keep one of them"},
		"a hook that is declared as an object, too": {[]engine.Part{
			{Name: "first", Namespace: "n", Steps: steps(named("ConfigMap", "a"))},
			{Name: "second", Namespace: "n", Hooks: []*unstructured.Unstructured{named("ConfigMap", "a")}},
		}, "ConfigMap n/a is a hook of second, and declared a second time: keep one of them"},
		"a hook that cannot be placed": {
			[]engine.Part{{Name: "first", Hooks: []*unstructured.Unstructured{named("ConfigMap", "bad")}}}, "first: it cannot be placed",
		},
		"an object that cannot be placed": {[]engine.Part{{Name: "first", Steps: steps(named("ConfigMap", "bad"))}}, "first: it cannot be placed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Arrange(test.parts, engine.Placing{Own: inNamespace})
			if err == nil || err.Error() != test.text {
				t.Errorf("error %v, want %s", err, test.text)
			}
			if reason := content.ReasonOf(err); strings.Contains(test.text, "differently") && reason != content.ReasonContentInvalid {
				t.Errorf("reason %s", reason)
			}
		})
	}
}

func TestArrange_NothingHasNoOrder(t *testing.T) {
	empty := &engine.Arrangement{}
	if empty.Parts() != 0 || empty.FirstUnplaced() != 0 || len(empty.Batches(nil)) != 0 || empty.Declares(inventory.ID{}) {
		t.Error("an empty arrangement has something")
	}
}

// What tells that another installer has brought a part: its workloads, and where it has none, what no other one would have brought.
func TestTakesOver(t *testing.T) {
	workload := named("Deployment", "workload")
	workload.SetAPIVersion("apps/v1")
	definition := named("CustomResourceDefinition", "definition")
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	made, err := engine.Arrange([]engine.Part{
		{Name: "works", Steps: steps(named("ConfigMap", "beside"), workload)},
		{Name: "rests", Steps: steps(named("Namespace", "home"), definition, named("ConfigMap", "one"), named("ConfigMap", "two"))},
	}, engine.Placing{Own: inNamespace})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		part      int
		adoptable string
		refused   string
		want      bool
	}{
		"a workload tells":                                       {part: 0, adoptable: "workload", want: true},
		"what is beside a workload does not":                     {part: 0, adoptable: "beside"},
		"without a workload, any object tells":                   {part: 1, adoptable: "two", want: true},
		"a namespace does not":                                   {part: 1, adoptable: "home"},
		"a definition does not":                                  {part: 1, adoptable: "definition"},
		"the objects of another part do not":                     {part: 1, adoptable: "workload"},
		"a telling object that another one owns is an error":     {part: 1, adoptable: "one", refused: "two"},
		"an object that does not tell may belong to another one": {part: 0, adoptable: "workload", refused: "beside", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			got, err := made.TakesOver(t.Context(), test.part, func(_ context.Context, object *unstructured.Unstructured) (bool, error) {
				asked = append(asked, object.GetName())
				if object.GetName() == test.refused {
					return false, errors.New("it belongs to another one")
				}
				return object.GetName() == test.adoptable, nil
			})
			if refused := slices.Contains(asked, test.refused); got != test.want || (err != nil) != refused {
				t.Errorf("it takes over: %t, error %v; asked for %v", got, err, asked)
			}
		})
	}
}
