package hooks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Annotations of Helm on the object of a hook.
const (
	// AnnotationEvents lists the events at which the hook runs.
	AnnotationEvents = "helm.sh/hook"
	// AnnotationWeight orders the hooks of an event.
	AnnotationWeight = "helm.sh/hook-weight"
	// AnnotationDeletePolicy lists when the object is deleted.
	AnnotationDeletePolicy = "helm.sh/hook-delete-policy"
)

// dropSucceeded deletes a hook when all hooks of its event have completed. The other policies need no word here: what runs to completion is
// always replaced, and what failed is kept as the record of that.
const dropSucceeded = "hook-succeeded"

// Event is a moment in the life of a release.
type Event string

// Events, in pairs: before and after the objects of the release are written or deleted.
const (
	PreInstall   Event = "pre-install"
	PostInstall  Event = "post-install"
	PreUpgrade   Event = "pre-upgrade"
	PostUpgrade  Event = "post-upgrade"
	PreRollback  Event = "pre-rollback"
	PostRollback Event = "post-rollback"
	PreDelete    Event = "pre-delete"
	PostDelete   Event = "post-delete"
)

// after has the event that follows each event that comes before the objects.
var after = map[Event]Event{
	PreInstall: PostInstall, PreUpgrade: PostUpgrade, PreRollback: PostRollback, PreDelete: PostDelete,
}

// before has the event that precedes each event that comes after the objects.
var before = map[Event]Event{
	PostInstall: PreInstall, PostUpgrade: PreUpgrade, PostRollback: PreRollback, PostDelete: PreDelete,
}

// OfDeletion reports whether the event belongs to the removal of a release.
func (e Event) OfDeletion() bool { return e == PreDelete || e == PostDelete }

// Events reads a value of AnnotationEvents as Helm does. unknown are the names that it does not know: Helm leaves such a hook out.
func Events(annotation string) (events []Event, unknown []string) {
	for name := range strings.SplitSeq(annotation, ",") {
		switch event := Event(strings.ToLower(strings.TrimSpace(name))); {
		case after[event] != "" || before[event] != "":
			events = append(events, event)
		case event == "test", event == "test-success", event == "test-failure", event == "crd-install":
		default:
			unknown = append(unknown, name)
		}
	}
	return events, unknown
}

// Hook is an object that is written at events of a release.
type Hook struct {
	Object *unstructured.Unstructured

	events []Event
	weight int
	drops  bool
}

// ID returns the identity of the object.
func (h Hook) ID() inventory.ID { return inventory.IDOf(h.Object) }

// RunsToCompletion reports whether the hook is a program that ends, as Helm has it. Any other object has done its part when it is written.
func (h Hook) RunsToCompletion() bool {
	switch h.Object.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "batch", Kind: "Job"}, schema.GroupKind{Kind: "Pod"}:
		return true
	}
	return false
}

// Set is what a release has of hooks, in the order in which those of one event run.
type Set []Hook

// Of returns the hooks that objects are by their annotations.
func Of(objects []*unstructured.Unstructured) Set {
	set := make(Set, 0, len(objects))
	for _, object := range objects {
		annotations := object.GetAnnotations()
		events, _ := Events(annotations[AnnotationEvents])
		weight, _ := strconv.Atoi(strings.TrimSpace(annotations[AnnotationWeight])) // Helm takes what is no number for zero
		hook := Hook{Object: object, events: events, weight: weight}
		for policy := range strings.SplitSeq(annotations[AnnotationDeletePolicy], ",") {
			hook.drops = hook.drops || strings.ToLower(strings.TrimSpace(policy)) == dropSucceeded
		}
		set = append(set, hook)
	}
	slices.SortStableFunc(set, func(a, b Hook) int {
		return cmp.Or(
			cmp.Compare(a.weight, b.weight), cmp.Compare(a.Object.GetName(), b.Object.GetName()),
			cmp.Compare(inventory.Phase(a.ID().GroupKind()), inventory.Phase(b.ID().GroupKind())), a.ID().Compare(b.ID()),
		)
	})
	return set
}

// At returns the hooks of an event, in their order.
func (s Set) At(event Event) Set {
	var of Set
	for _, hook := range s {
		if slices.Contains(hook.events, event) {
			of = append(of, hook)
		}
	}
	return of
}

// OfDeletion returns the objects of the hooks that run at a removal.
func (s Set) OfDeletion() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, hook := range s {
		if slices.ContainsFunc(hook.events, Event.OfDeletion) {
			objects = append(objects, hook.Object)
		}
	}
	return objects
}

// Declares reports whether an object is among the hooks.
func (s Set) Declares(id inventory.ID) bool {
	return slices.ContainsFunc(s, func(hook Hook) bool { return hook.ID() == id })
}
