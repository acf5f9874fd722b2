package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// observed plays what is known of a cluster.
type observed struct {
	health  map[string]health.Result // by name; others are not checked
	objects map[string]*unstructured.Unstructured
}

func (o observed) Health(id inventory.ID) (health.Result, bool) {
	result, checked := o.health[id.Name]
	return result, checked
}

func (o observed) Object(id inventory.ID) (*unstructured.Unstructured, bool) {
	object, seen := o.objects[id.Name]
	return object, seen
}

func configMap(name, phase string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"phase": phase}}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	object.SetName(name)
	return object
}

func probe(t *testing.T, name, expression, message string) engine.Probe {
	t.Helper()
	condition, err := health.CompileProbe(expression)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Probe{Name: name, Kind: schema.GroupKind{Kind: "ConfigMap"}, Message: message, Condition: condition}
}

func texts(unready []engine.Unready) (said []string) {
	for _, object := range unready {
		text := object.String()
		if object.Failed {
			text += " (failed)"
		}
		said = append(said, text)
	}
	return said
}

func TestArrangement_AwaitEarlierParts(t *testing.T) {
	var parts []engine.Part
	for _, name := range []string{"first", "second", "third"} {
		parts = append(parts, engine.Part{Name: name, Steps: [][]*unstructured.Unstructured{{configMap(name, "")}}})
	}
	arranged, err := engine.Arrange(parts, engine.Placing{
		Own: func(objects []*unstructured.Unstructured, _ string) ([]*unstructured.Unstructured, error) {
			return objects, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	busy := health.Result{Status: health.InProgress, Message: "0 of 1"}
	open := []engine.Probe{
		probe(t, "open", `self.data.phase == "open"`, "the shop is closed"), probe(t, "never", "false", ""),
	}
	for name, test := range map[string]struct {
		part     int
		probes   []engine.Probe
		observed observed
		want     []string
	}{
		"the first part waits for nothing": {part: 0, observed: observed{health: map[string]health.Result{"first": busy}}},
		"a part waits for every object before it, in their order": {
			part: 2, observed: observed{health: map[string]health.Result{"first": busy, "second": {Status: health.Failed, Message: "crashes"}, "third": busy}},
			want: []string{"ConfigMap first: 0 of 1", "ConfigMap second: crashes (failed)"},
		},
		"everything is the part behind the last": {
			part: 3, observed: observed{health: map[string]health.Result{"third": busy}}, want: []string{"ConfigMap third: 0 of 1"},
		},
		"an object that was not observed is waited for": {
			part: 1, observed: observed{health: map[string]health.Result{"first": {Status: health.Unknown}}},
			want: []string{"ConfigMap first: its status was not seen yet"},
		},
		"of objects without a health the existence is enough": {part: 3},
		"what is ready is asked about by the probes": {
			part: 1, probes: open,
			observed: observed{
				health:  map[string]health.Result{"first": {Status: health.Ready}},
				objects: map[string]*unstructured.Unstructured{"first": configMap("first", "shut")},
			},
			want: []string{"ConfigMap first: probe open: the shop is closed"},
		},
		"while an object is not ready, no probe is told": {
			part: 1, probes: open, observed: observed{health: map[string]health.Result{"first": busy}}, want: []string{"ConfigMap first: 0 of 1"},
		},
		"a probe waits for what was not observed": {part: 1, probes: open, want: []string{"ConfigMap first: probe open waits to see it"}},
		"a probe need not see what is not there": {
			part: 1, probes: open, observed: observed{objects: map[string]*unstructured.Unstructured{"first": nil}},
		},
		"the next probe is told when the one before is met": {
			part: 1, probes: open, observed: observed{objects: map[string]*unstructured.Unstructured{"first": configMap("first", "open")}},
			want: []string{"ConfigMap first: probe never: is not true yet: false"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(arranged.AwaitEarlierParts(test.part, test.probes, test.observed)); !slices.Equal(got, test.want) {
				t.Errorf("waits for %q, want %q", got, test.want)
			}
		})
	}
}

func TestFindUnmet_AProbeIsAboutItsKind(t *testing.T) {
	never := []engine.Probe{probe(t, "never", "false", "")}
	secret := inventory.ID{Kind: "Secret", Name: "first"}
	if got := engine.FindUnmet([]inventory.ID{secret}, never, observed{}); len(got) > 0 {
		t.Errorf("a probe of ConfigMaps holds %v", texts(got))
	}
	id := inventory.IDOf(configMap("first", ""))
	got := engine.FindUnmet([]inventory.ID{id}, never, observed{})
	if len(got) != 1 || got[0].Probe == nil || got[0].Probe.Name != "never" {
		t.Errorf("found %v", fmt.Sprint(got))
	}
}
