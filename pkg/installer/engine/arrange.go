package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Part is one source of an installation, rendered.
type Part struct {
	// Name of the part in messages.
	Name string
	// Namespace of objects that name none.
	Namespace string
	// Steps are applied one after the other.
	Steps [][]*unstructured.Unstructured
	// Hooks are written at events, and are not among Steps.
	Hooks []*unstructured.Unstructured
}

// Arrangement is what an installation declares, in the order in which it is applied.
type Arrangement struct {
	// Objects of all parts, in their namespaces; each once.
	Objects []*unstructured.Unstructured
	// Unplaced are those of kinds that are not served: it is unknown whether they live in namespaces, so that they cannot be told apart from
	// others and must not be recorded.
	Unplaced []*unstructured.Unstructured
	// Hooks of the parts, in their namespaces, by the number of the part.
	Hooks [][]*unstructured.Unstructured

	names []string // of the parts
	at    map[inventory.ID]inventory.Stage
}

// Placing is how the objects of a part become those of an installation.
type Placing struct {
	// Own returns the objects of one step in their namespaces, marked.
	Own func(objects []*unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error)
	// Served reports whether a kind is served; nil: all of them count as served.
	Served func(schema.GroupVersionKind) bool
}

// Arrange places the objects of all parts. What two parts declare alike counts once, where it comes first; what they declare differently is
// a *content.Error. Errors of Placing.Own name the part.
func Arrange(parts []Part, placing Placing) (*Arrangement, error) {
	made := &Arrangement{at: map[inventory.ID]inventory.Stage{}}
	for _, part := range parts {
		made.names = append(made.names, part.Name)
	}
	known := map[inventory.ID]*unstructured.Unstructured{}
	for i, part := range parts {
		for j, step := range part.Steps {
			placed, err := placing.Own(step, part.Namespace)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", part.Name, err)
			}
			if err := made.add(placed, inventory.Stage{Part: i, Step: j}, known, placing.Served); err != nil {
				return nil, err
			}
		}
	}
	return made, made.addHooks(parts, known, placing)
}

// addHooks places the hooks of the parts. None of them may be another declared object, too.
func (a *Arrangement) addHooks(parts []Part, known map[inventory.ID]*unstructured.Unstructured, placing Placing) error {
	a.Hooks = make([][]*unstructured.Unstructured, len(parts))
	for i, part := range parts {
		placed, err := placing.Own(part.Hooks, part.Namespace)
		if err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
		for _, hook := range placed {
			id := inventory.IDOf(hook)
			if known[id] != nil {
				return content.Errorf(content.ReasonContentInvalid, "%s is a hook of %s, and declared a second time: keep one of them", id, part.Name)
			}
			known[id] = hook
		}
		a.Hooks[i] = placed
	}
	return nil
}

func (a *Arrangement) add(
	placed []*unstructured.Unstructured, at inventory.Stage, known map[inventory.ID]*unstructured.Unstructured,
	served func(schema.GroupVersionKind) bool,
) error {
	for _, object := range placed {
		id := inventory.IDOf(object)
		if first, twice := known[id]; twice {
			if !reflect.DeepEqual(first.Object, object.Object) {
				return content.Errorf(content.ReasonContentInvalid, "%s is declared differently by %s and %s: keep one of them",
					id, a.PartOf(id), a.names[at.Part])
			}
			continue
		}
		known[id], a.at[id] = object, at
		if served == nil || served(object.GroupVersionKind()) {
			a.Objects = append(a.Objects, object)
		} else {
			a.Unplaced = append(a.Unplaced, object)
		}
	}
	return nil
}

// Stage returns when an object is applied; the zero Stage for one that is not declared.
func (a *Arrangement) Stage(id inventory.ID) inventory.Stage { return a.at[id] }

// Declares reports whether an object is among those of the parts.
func (a *Arrangement) Declares(id inventory.ID) bool {
	_, declared := a.at[id]
	return declared
}

// PartOf returns the name of the part that declares an object.
func (a *Arrangement) PartOf(id inventory.ID) string { return a.names[a.at[id].Part] }

// Parts returns how many parts there are.
func (a *Arrangement) Parts() int { return len(a.names) }

// PartName returns the name of a part by its number.
func (a *Arrangement) PartName(part int) string { return a.names[part] }

// Batches divides steps into batches that are applied one after the other.
func (a *Arrangement) Batches(steps []inventory.Step) []inventory.Batch {
	return inventory.Batches(steps, a.Stage)
}

// Sorted returns objects in the order in which they are applied.
func (a *Arrangement) Sorted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedStableFunc(slices.Values(objects), func(x, y *unstructured.Unstructured) int {
		return inventory.CompareStaged(inventory.IDOf(x), inventory.IDOf(y), a.Stage)
	})
}

// FirstUnplaced returns the first part with an object of a kind that is not served, the number of parts when there is none.
func (a *Arrangement) FirstUnplaced() int {
	first := a.Parts()
	for _, object := range a.Unplaced {
		first = min(first, a.at[inventory.IDOf(object)].Part)
	}
	return first
}

// TakesOver reports whether a part takes the place of what another installer has brought: adoptable says so of one of the objects that
// tell, and has no error for any of them. Then it counts as installed before, for its hooks and for what it generates.
func (a *Arrangement) TakesOver(
	ctx context.Context, part int, adoptable func(context.Context, *unstructured.Unstructured) (bool, error),
) (takesOver bool, _ error) {
	for _, object := range a.telling(part) {
		found, err := adoptable(ctx, object)
		if err != nil {
			return false, err
		}
		takesOver = takesOver || found
	}
	return takesOver, nil
}

// telling returns the objects whose existence tells that a part was installed: its workloads; of one that has none, all but namespaces and
// definitions, which others may have brought and which outlive what they were made for.
func (a *Arrangement) telling(part int) []*unstructured.Unstructured {
	var workloads, others []*unstructured.Unstructured
	for _, object := range a.Objects {
		id := inventory.IDOf(object)
		switch {
		case a.at[id].Part != part:
		case id.Group == "apps":
			workloads = append(workloads, object)
		case id.GroupKind() != inventory.CRDKind && id.GroupKind() != (schema.GroupKind{Kind: "Namespace"}):
			others = append(others, object)
		}
	}
	if len(workloads) > 0 {
		return workloads
	}
	return others
}
