package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var lamps = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "lamps"}

// lampDefinition returns the definition of a kind with the fields of its spec.
func lampDefinition(fields map[string]any) *unstructured.Unstructured {
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "lamps.example.com", "annotations": map[string]any{"owner": "sibling"}},
		"spec": map[string]any{
			"group": "example.com", "scope": "Cluster", "names": map[string]any{"plural": "lamps", "kind": "Lamp", "listKind": "LampList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec": map[string]any{"type": "object", "properties": fields},
				}}},
			}},
		},
	}}
	return definition
}

// lampCluster returns a cluster with a definition of two fields, and an object that uses both.
func lampCluster() (*apply.Cluster, *dynamicfake.FakeDynamicClient) {
	text := map[string]any{"type": "string"}
	lamp := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": map[string]any{"name": "red"},
		"spec": map[string]any{"colour": "red", "size": "small"},
	}}
	kinds := map[schema.GroupVersionResource]string{inventory.CRDResource: "CustomResourceDefinitionList", lamps: "LampList"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(
		runtime.NewScheme(), kinds, lampDefinition(map[string]any{"colour": text, "size": text}), lamp)
	return &apply.Cluster{Dynamic: client, Resource: func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		if gvk.Kind == "Lamp" {
			return apply.Resource{GroupVersionResource: lamps}, nil
		}
		return apply.Resource{GroupVersionResource: inventory.CRDResource}, nil
	}}, client
}

func TestCheckDefinitions(t *testing.T) {
	smaller := lampDefinition(map[string]any{"colour": map[string]any{"type": "string"}})
	id := inventory.IDOf(smaller)
	step := func(why inventory.Why) []inventory.Step {
		return []inventory.Step{{Object: smaller, Why: why, Entry: inventory.Entry{ID: id}}}
	}
	live := func(inventory.ID) inventory.Live {
		return inventory.Live{Presence: inventory.Present, Owner: "sibling"}
	}
	relation := func(relation apply.Relation) apply.Options {
		return apply.Options{Live: live, Relation: func(string) apply.Relation { return relation }}
	}
	plain := []inventory.Step{{Object: configMap("plain", ""), Why: inventory.WhyNew, Entry: inventory.Entry{ID: inventory.IDOf(configMap("plain", ""))}}}
	for name, test := range map[string]struct {
		steps   []inventory.Step
		allowed []string
		options apply.Options
		refused bool
	}{
		"a change that breaks objects":                            {steps: step(inventory.WhyChanged), refused: true},
		"one that is allowed by name":                             {steps: step(inventory.WhyChanged), allowed: []string{"FieldRemoved"}},
		"a definition that was deleted and is restored":           {steps: step(inventory.WhyMissing)},
		"a definition that was edited and is put back":            {steps: step(inventory.WhyDrifted)},
		"a definition that is left to a sibling":                  {steps: step(inventory.WhyNew), options: relation(apply.OwnerSibling)},
		"a definition that is taken over from an owner that goes": {steps: step(inventory.WhyNew), options: relation(apply.OwnerGone), refused: true},
		"other objects are not compared":                          {steps: plain},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, client := lampCluster()
			findings, err := engine.CheckDefinitions(t.Context(), cluster, test.steps, test.allowed, test.options)
			if err != nil || (len(findings) > 0) != test.refused {
				t.Errorf("found %v, error %v", findings, err)
			}
			if !test.refused && test.allowed == nil && len(client.Actions()) > 0 {
				t.Errorf("what is not compared costs %d calls", len(client.Actions()))
			}
		})
	}
}

func TestCheckDefinitions_ReturnsWhyOneCannotBeRead(t *testing.T) {
	cluster, client := lampCluster()
	client.PrependReactor("get", "customresourcedefinitions", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(inventory.CRDResource.GroupResource(), "lamps.example.com", errors.New("no rights"))
	})
	definition := lampDefinition(nil)
	steps := []inventory.Step{{Object: definition, Why: inventory.WhyNew, Entry: inventory.Entry{ID: inventory.IDOf(definition)}}}
	_, err := engine.CheckDefinitions(t.Context(), cluster, steps, nil, apply.Options{})
	if told, ok := errors.AsType[*apply.Error](err); !ok || told.Class != apply.ClassForbidden || told.ID != inventory.IDOf(definition) {
		t.Errorf("error %v", err)
	}
}

func TestAwaitDefinitions(t *testing.T) {
	definition, other := lampDefinition(nil), lampDefinition(nil)
	other.SetName("others.example.com")
	var definitions []inventory.Step
	for _, object := range []*unstructured.Unstructured{definition, other} {
		definitions = append(definitions, inventory.Step{Object: object, Entry: inventory.Entry{ID: inventory.IDOf(object)}})
	}
	plain := []inventory.Step{{Object: configMap("plain", ""), Entry: inventory.Entry{ID: inventory.IDOf(configMap("plain", ""))}}}
	for name, test := range map[string]struct {
		steps   []inventory.Step
		looks   []int // at the definitions, until they are established; 0: never
		missing string
	}{
		"all are established":                 {definitions, []int{1, 1}, ""},
		"one takes a moment":                  {definitions, []int{2, 1}, ""},
		"the first that is not is returned":   {definitions, []int{1, 0}, "others.example.com"},
		"other objects are not waited for":    {plain, nil, ""},
		"without steps nothing is waited for": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			looks := map[string]int{}
			established := func(_ context.Context, object *unstructured.Unstructured) bool {
				looks[object.GetName()]++
				at := slices.IndexFunc(test.steps, func(step inventory.Step) bool { return step.Object == object })
				return test.looks[at] > 0 && looks[object.GetName()] >= test.looks[at]
			}
			missing := engine.AwaitDefinitions(t.Context(), test.steps, 60*time.Millisecond, established)
			if (missing == nil) != (test.missing == "") || missing != nil && missing.GetName() != test.missing {
				t.Errorf("%v is missing", missing)
			}
		})
	}
}
