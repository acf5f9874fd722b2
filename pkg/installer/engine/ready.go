package engine

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Observer tells how objects are, from watch streams or from reads.
type Observer interface {
	// Health returns the health of an object, with a message unless it is ready. One that was not observed is Unknown. checked is false
	// where nothing but the existence of an object is observed: it counts as ready.
	Health(id inventory.ID) (result health.Result, checked bool)
	// Object returns an object for a probe, nil for one that the probe need not see. seen is false while nothing was observed of it.
	Object(id inventory.ID) (object *unstructured.Unstructured, seen bool)
}

// Probe is one more condition on the objects of a kind.
type Probe struct {
	// Name of the probe in messages.
	Name string
	// Kind of the objects that it is about.
	Kind schema.GroupKind
	// Message says in users' words what is not fulfilled; without one the condition says it.
	Message string
	// Condition that every object must meet.
	Condition *health.Probe
}

// Unready is an object that is waited for.
type Unready struct {
	ID inventory.ID
	// Message says why, without the object.
	Message string
	// Failed means that the object reports that it will not become ready by itself.
	Failed bool
	// Probe is what the object does not meet; nil means that the object itself is not ready.
	Probe *Probe
}

// String returns the object and why it is waited for.
func (u Unready) String() string { return u.ID.String() + ": " + u.Message }

// FindUnready returns the objects that are not ready, in their order.
func FindUnready(ids []inventory.ID, observer Observer) []Unready {
	var found []Unready
	for _, id := range ids {
		if result, checked := observer.Health(id); checked && result.Status != health.Ready {
			message := cmp.Or(result.Message, "its status was not seen yet")
			found = append(found, Unready{ID: id, Message: message, Failed: result.Status == health.Failed})
		}
	}
	return found
}

// FindUnmet returns the objects that do not meet the first probe that some do not meet, in their order.
func FindUnmet(ids []inventory.ID, probes []Probe, observer Observer) []Unready {
	for i := range probes {
		var found []Unready
		for _, id := range ids {
			if message := probes[i].unmet(id, observer); message != "" {
				found = append(found, Unready{ID: id, Message: message, Probe: &probes[i]})
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// unmet returns why an object does not meet the probe; empty when it does, or the probe is not about it.
func (p *Probe) unmet(id inventory.ID, observer Observer) string {
	if id.GroupKind() != p.Kind {
		return ""
	}
	object, seen := observer.Object(id)
	switch {
	case !seen:
		return fmt.Sprintf("probe %s waits to see it", p.Name)
	case object == nil:
		return ""
	}
	if met, why := p.Condition.Check(object); !met {
		return fmt.Sprintf("probe %s: %s", p.Name, cmp.Or(p.Message, why))
	}
	return ""
}

// AwaitEarlierParts returns what a part waits for: the objects of earlier parts that are not ready, and when all of them are, those that do
// not meet a probe. The number of parts as the part returns what everything waits for. None means that the part may begin.
func (a *Arrangement) AwaitEarlierParts(part int, probes []Probe, observer Observer) []Unready {
	var earlier []inventory.ID
	for _, object := range a.Objects {
		if id := inventory.IDOf(object); a.at[id].Part < part {
			earlier = append(earlier, id)
		}
	}
	slices.SortStableFunc(earlier, func(x, y inventory.ID) int { return inventory.CompareStaged(x, y, a.Stage) })
	if unready := FindUnready(earlier, observer); len(unready) > 0 {
		return unready
	}
	return FindUnmet(earlier, probes, observer)
}
