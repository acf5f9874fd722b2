package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// installation uses this package as a controller does: it decides by the inventory, applies and records.
type installation struct {
	*fixture
	recorded []inventory.Entry
	blind    bool // no watch stream has listed anything yet
}

func (i *installation) decide(objects ...*unstructured.Unstructured) []inventory.Step {
	i.Helper()
	return inventory.Decide(i.recorded, objects, func(id inventory.ID) inventory.Live {
		for _, object := range objects {
			if inventory.IDOf(object) == id && !i.blind {
				return i.live(object)
			}
		}
		return inventory.Live{}
	}).Apply
}

// install brings the cluster to the given content and records what was done.
func (i *installation) install(objects ...*unstructured.Unstructured) []Outcome {
	i.Helper()
	steps := i.decide(objects...)
	outcomes := i.cluster.Apply(i.Context(), steps, i.opts)
	for at, outcome := range outcomes {
		if outcome.Err != nil {
			continue
		}
		entry := steps[at].Entry
		entry.UID, entry.Fields = outcome.UID, outcome.Fields
		i.recorded = inventory.Merge(i.recorded, []inventory.Entry{entry}, nil)
	}
	return outcomes
}

// installs expects one step with the given action.
func (i *installation) installs(action Action, object *unstructured.Unstructured) *unstructured.Unstructured {
	i.Helper()
	outcomes := i.install(object)
	if len(outcomes) != 1 {
		i.Fatalf("%d steps, want 1", len(outcomes))
	}
	if i.is(outcomes[0], action, ""); outcomes[0].Err != nil {
		i.FailNow()
	}
	return i.get(object)
}

// rests expects that nothing is left to do: the same content needs no second apply.
func (i *installation) rests(objects ...*unstructured.Unstructured) {
	i.Helper()
	for _, step := range i.decide(objects...) {
		i.Errorf("%s is to be applied again: %s", step.Entry.ID, step.Why)
	}
}

// entry returns the inventory's record of an object.
func (i *installation) entry(object *unstructured.Unstructured) inventory.Entry {
	i.Helper()
	at := slices.IndexFunc(i.recorded, func(entry inventory.Entry) bool { return entry.ID == inventory.IDOf(object) })
	if at < 0 {
		i.Fatalf("%s is not recorded", inventory.IDOf(object))
	}
	return i.recorded[at]
}

// newSteps returns steps for objects that are not in the inventory.
func newSteps(objects ...*unstructured.Unstructured) []inventory.Step {
	return inventory.Decide(nil, objects, func(inventory.ID) inventory.Live { return inventory.Live{} }).Apply
}
