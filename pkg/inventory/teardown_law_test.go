package inventory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// A teardown always ends: whatever holds an object in the cluster, no wave waits for an object that only a later wave would release. The
// test explores random clusters, in which the holders are those of Kubernetes:
//
//   - a claim (PersistentVolumeClaim, ResourceClaim) is held by the pods that use it, a volume and its class by the claim
//   - a definition is held by its custom resources, also by those of users, which are deleted with it
//   - a namespace is held by its content, and by an APIService whose backend is gone
//   - a finalizer of the module's operator is held until that runs with everything that it needs for its work
//   - a webhook whose backend is gone refuses every deletion and every finalizer's removal that it intercepts
//   - custom resources that a webhook converts cannot change while its backend is gone
//   - a ServiceCIDR is held by Services
//
// A pod may be evicted at any time, and starts again only where everything that it mounts and names exists.
func TestTeardownAlwaysEnds(t *testing.T) {
	for seed := range uint64(teardownSeeds) {
		if held := explored(seed, inventory.Teardown); held != "" {
			t.Fatalf("seed %d: %s", seed, held)
		}
	}
}

const teardownSeeds = 500

func explored(seed uint64, teardown teardown) string {
	random := rand.New(rand.NewPCG(seed, 21))
	return randomWorld(random).tearDown(random, teardown)
}

// The law detects every kind in a wrong wave.
func TestTeardownLawNoticesAKindInTheWrongPlace(t *testing.T) {
	for _, place := range []struct {
		first bool
		kinds string
	}{
		{true, "PersistentVolumeClaim PersistentVolume ResourceClaim VolumeAttributesClass Secret ConfigMap ServiceAccount ClusterRole Service"},
		{true, "NetworkPolicy PriorityClass RuntimeClass IngressClass StorageClass LimitRange ServiceCIDR Deployment Namespace"},
		{false, "Sample CustomResourceDefinition ValidatingWebhookConfiguration APIService Ingress Service ConfigMap Secret"},
	} {
		for kind := range strings.FieldsSeq(place.kinds) {
			found := false
			for seed := uint64(0); seed < teardownSeeds && !found; seed++ {
				found = explored(seed, misplaced(kind, place.first)) != ""
			}
			if !found {
				t.Errorf("%s before everything else (%t) or after it: no deadlock was found", kind, place.first)
			}
		}
	}
}

type teardown func(entries []inventory.Entry, manager *inventory.ID) [][]inventory.Entry

// misplaced deletes one kind before everything else, or after it.
func misplaced(kind string, first bool) teardown {
	return func(entries []inventory.Entry, manager *inventory.ID) [][]inventory.Entry {
		var of, others []inventory.Entry
		for _, entry := range entries {
			if entry.Kind == kind {
				of = append(of, entry)
			} else {
				others = append(others, entry)
			}
		}
		waves := inventory.Teardown(others, manager)
		switch {
		case len(of) == 0:
			return waves
		case first:
			return slices.Insert(waves, 0, of)
		default:
			return append(waves, of)
		}
	}
}

// thing is one object of the model.
type thing struct {
	id          inventory.ID
	recorded    bool           // it is in the inventory; others are pods and objects of users
	terminating bool           // its deletion was accepted
	heldBy      []inventory.ID // it stays while one of them exists
	finalizer   *inventory.ID  // the workload that must remove its finalizer
	backend     []inventory.ID // the backend of a webhook, an APIService or a conversion
	intercepts  []inventory.ID // of a webhook
	owner       *inventory.ID  // a pod is deleted after its workload
}

type model struct {
	things map[inventory.ID]*thing
	// starts and works are what the pods of an operator need to start, and to do their work.
	starts, works map[inventory.ID][]inventory.ID
	manager       *inventory.ID
}

func (w *model) add(id inventory.ID) *thing {
	made := &thing{id: id, recorded: true}
	w.things[id] = made
	return made
}

func (w *model) exists(ids ...inventory.ID) bool {
	return !slices.ContainsFunc(ids, func(id inventory.ID) bool { return w.things[id] == nil })
}

// tearDown deletes wave by wave, each gone before the next begins; it returns what is held for good, or "".
func (w *model) tearDown(random *rand.Rand, teardown teardown) string {
	for {
		var entries []inventory.Entry
		for _, id := range w.ids() {
			if w.things[id].recorded {
				entries = append(entries, inventory.Entry{ID: id, Version: "v1"})
			}
		}
		waves := teardown(entries, w.manager)
		if len(waves) == 0 {
			return ""
		}
		wave := waves[0]
		random.Shuffle(len(wave), func(i, j int) { wave[i], wave[j] = wave[j], wave[i] })
		for _, entry := range wave {
			if w.intercepted(entry.ID) == "" {
				w.things[entry.ID].terminating = true
			}
		}
		for w.settle() {
			continue
		}
		if left := w.left(wave); left != "" {
			return left
		}
	}
}

func (w *model) ids() []inventory.ID {
	ids := make([]inventory.ID, 0, len(w.things))
	for id := range w.things {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, inventory.ID.Compare)
	return ids
}

// left returns the objects of a wave that will never be gone.
func (w *model) left(wave []inventory.Entry) string {
	var held []string
	for _, entry := range wave {
		if one := w.things[entry.ID]; one != nil {
			held = append(held, fmt.Sprintf("%s (%s)", entry.ID, w.why(one)))
		}
	}
	return strings.Join(held, ", ")
}

// settle simulates one round of the cluster's controllers and operators, and reports whether anything changed.
func (w *model) settle() (changed bool) {
	for _, id := range w.ids() {
		one := w.things[id]
		if one == nil {
			continue
		}
		if one.owner != nil && w.things[*one.owner] == nil {
			one.terminating = true
		}
		if !one.terminating {
			continue
		}
		for _, other := range w.dependents(one) {
			if !other.terminating && w.intercepted(other.id) == "" {
				other.terminating, changed = true, true
			}
		}
		if w.why(one) == "" {
			delete(w.things, id)
			changed = true
		}
	}
	return changed
}

// dependents returns the objects that are deleted with another one: custom resources with their definition, everything with its namespace.
func (w *model) dependents(one *thing) []*thing {
	var along []*thing
	for _, other := range w.things {
		switch one.id.Kind {
		case "Namespace":
			if other.id.Namespace == one.id.Name {
				along = append(along, other)
			}
		case "CustomResourceDefinition":
			if slices.Contains(one.heldBy, other.id) {
				along = append(along, other)
			}
		}
	}
	return along
}

// why returns what holds an object; "" when nothing does.
func (w *model) why(one *thing) string {
	if !one.terminating {
		return "its deletion is refused: " + w.intercepted(one.id)
	}
	for _, id := range one.heldBy {
		if w.things[id] != nil {
			return "held by " + id.String()
		}
	}
	for _, other := range w.things {
		switch {
		case one.id.Kind != "Namespace":
		case other.id.Namespace == one.id.Name:
			return "it contains " + other.id.String()
		case other.id.Kind == "APIService" && !w.exists(other.backend...):
			return "nothing answers for " + other.id.String()
		}
	}
	if one.finalizer == nil {
		return ""
	}
	if !w.runs(one) {
		return "its operator does not run: " + one.finalizer.String()
	}
	if !w.exists(one.backend...) && one.id.Group == customGroup {
		return "nothing converts it"
	}
	return w.intercepted(one.id)
}

// runs reports whether the operator of an object works. While objects with its own finalizer are deleted, it is not evicted as well:
// objects that it mounts may carry its finalizer, and no order serves both.
func (w *model) runs(one *thing) bool {
	operator := *one.finalizer
	if !w.exists(operator) || w.things[operator].terminating || !w.exists(w.works[operator]...) {
		return false
	}
	return mounted(one.id) || w.exists(w.starts[operator]...)
}

// mounted reports whether an operator may mount an object, or be reached through it.
func mounted(id inventory.ID) bool {
	return id.Kind == "ConfigMap" || id.Kind == "Secret" || id.Kind == "Service"
}

// intercepted returns which webhook refuses a change of an object because its backend is gone.
func (w *model) intercepted(id inventory.ID) string {
	for _, hook := range w.things {
		if slices.Contains(hook.intercepts, id) && !w.exists(hook.backend...) {
			return "nothing answers for " + hook.id.String()
		}
	}
	return ""
}
