package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Apply writes one phase: steps in any order, Options.Workers at a time. Outcomes come in the order of the steps. One bad object
// stops no other; only when the cluster itself cannot be talked to are the rest not tried, with the same Class.
func (c *Cluster) Apply(ctx context.Context, steps []inventory.Step, opts Options) []Outcome {
	r := &run{Cluster: c, Options: opts}
	outcomes := make([]Outcome, len(steps))
	r.each(len(steps), func(i int) { outcomes[i] = r.write(ctx, steps[i]) })
	return outcomes
}

// move is the next call for an object.
type move int

const (
	moveCreate   move = iota // POST: whatever is there is noticed
	moveChange               // server-side apply on what the inventory recorded, unread
	moveTakeOver             // read, judge, migrate, server-side apply
)

// writing is one object on its way into the cluster.
type writing struct {
	*run
	step   inventory.Step
	id     inventory.ID
	object *unstructured.Unstructured // as it is sent
	client dynamic.ResourceInterface
}

// write makes one move after the other until one ends in an outcome.
func (r *run) write(ctx context.Context, step inventory.Step) Outcome {
	id := inventory.IDOf(step.Object)
	if outcome, skip := r.skipped(id); skip {
		return outcome
	}
	client, err := r.client(ctx, step.Object.GroupVersionKind(), id)
	if err != nil {
		return r.failed(id, "apply", err, step.Object)
	}
	w := &writing{run: r, step: step, id: id, object: declared(step.Object), client: client}
	next := w.first()
	for range turns {
		var outcome *Outcome
		switch next {
		case moveCreate:
			outcome, next = w.create(ctx)
		case moveChange:
			outcome, next = w.change(ctx)
		case moveTakeOver:
			outcome, next = w.takeOver(ctx)
		}
		if outcome != nil {
			return *outcome
		}
	}
	return r.failed(id, "apply", contended())
}

// first is the cheapest move that is safe by what the inventory recorded and the watch streams know.
func (w *writing) first() move {
	entry, live := w.step.Entry, inventory.Live{}
	if w.Live != nil {
		live = w.Live(w.id)
	}
	switch {
	case w.step.Why == inventory.WhyNew, w.step.Why == inventory.WhyMissing, entry.UID == "", live.Presence == inventory.Absent:
		return moveCreate
	case w.step.Why == inventory.WhyReplaced:
		return moveTakeOver
	case live.Presence != inventory.Present:
		live = inventory.Live{UID: entry.UID, Owner: w.Owner, Fields: entry.Fields}
	}
	if live.UID == entry.UID && w.relation(live.Owner) == OwnerSelf && !live.Terminating && strings.HasPrefix(live.Fields, appliedPrefix) {
		return moveChange
	}
	return moveTakeOver
}

// create is the first write of an object. FieldValidation is strict because server-side apply always is: content that a later change
// could not be applied with is not accepted at first either.
func (w *writing) create(ctx context.Context) (*Outcome, move) {
	opts := metav1.CreateOptions{FieldManager: w.Manager, FieldValidation: metav1.FieldValidationStrict}
	made, err := w.client.Create(ctx, w.object, opts)
	switch {
	case err == nil:
		w.learned(made)
		return done(w.succeeded(w.id, Created, made))
	case apierrors.IsAlreadyExists(err):
		return nil, moveTakeOver
	}
	return done(w.failed(w.id, "create", err, w.object))
}

// change is every later write of an object: one call. When the object is not the one that was recorded, it is looked at first.
func (w *writing) change(ctx context.Context) (*Outcome, move) {
	changed, err := w.apply(ctx, w.step.Entry.UID)
	switch {
	case err == nil:
		return done(w.succeeded(w.id, Updated, changed))
	case anotherObject(err):
		return nil, moveTakeOver
	}
	return done(w.failed(w.id, "apply", err, w.object))
}

// takeOver writes an object that may not be ours, or that was created and never applied.
func (w *writing) takeOver(ctx context.Context) (*Outcome, move) {
	live, err := w.client.Get(ctx, w.id.Name, metav1.GetOptions{})
	if absent(err) {
		return nil, moveCreate
	}
	if err != nil {
		return done(w.failed(w.id, "read", err, w.object))
	}
	action := Updated
	switch judge(w.mark(live), live.GetUID() == w.step.Entry.UID, w.Options) {
	case refuse:
		return done(w.failed(w.id, "apply", w.foreign(w.mark(live))))
	case share:
		return done(w.succeeded(w.id, Shared, live))
	case adopt:
		action = Adopted
	case own:
	}
	if live.GetDeletionTimestamp() != nil {
		return done(w.failed(w.id, "apply", terminating(live)))
	}
	migrated, err := w.migrate(ctx, live, action)
	if err == nil {
		var applied *unstructured.Unstructured
		if applied, err = w.apply(ctx, live.GetUID()); err == nil {
			if action == Updated && !migrated && applied.GetResourceVersion() == live.GetResourceVersion() {
				action = Unchanged
			}
			return done(w.succeeded(w.id, action, applied))
		}
	}
	if anotherObject(err) || absent(err) {
		return nil, moveTakeOver
	}
	return done(w.failed(w.id, "apply", err, w.object, live))
}

// apply is the server-side apply of the object to exactly the one with that UID.
func (w *writing) apply(ctx context.Context, uid types.UID) (*unstructured.Unstructured, error) {
	w.object.SetUID(uid) // never a field that is owned: the API server strips it from managedFields
	defer w.object.SetUID("")
	data, err := json.Marshal(w.object)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	force := true
	opts := metav1.PatchOptions{FieldManager: w.Manager, Force: &force, FieldValidation: metav1.FieldValidationStrict}
	applied, err := w.client.Patch(ctx, w.id.Name, types.ApplyPatchType, data, opts)
	if err == nil {
		w.learned(applied)
	}
	return applied, err
}

// declared is what of an object is sent: without the fields that the API server fills in. Rendered content has none of them as a rule;
// exported content does, and there they would make every write fail. The object itself is not changed, and not copied in depth.
func declared(obj *unstructured.Unstructured) *unstructured.Unstructured {
	content := maps.Clone(obj.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, filled := range []string{"managedFields", "resourceVersion", "uid", "selfLink", "generation", "creationTimestamp",
			"deletionTimestamp", "deletionGracePeriodSeconds"} {
			delete(metadata, filled)
		}
		content["metadata"] = metadata
	}
	return &unstructured.Unstructured{Object: content}
}

func done(outcome Outcome) (*Outcome, move) { return &outcome, 0 }

// anotherObject says that a write did not meet the object that it meant. The API server tells a UID that differs as an attempt to
// change metadata.uid, and a UID without an object as a conflict.
func anotherObject(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// absent says that the object itself does not exist, not its namespace and not its kind.
func absent(err error) bool { return apierrors.IsNotFound(err) && Classify(err) == ClassConflict }

// foreign is told of an object that exists and is not ours to write.
func (o Options) foreign(owner string) *Error {
	whose, way := "it exists and carries no owner mark", AdoptIfUnowned
	if owner != "" {
		whose = fmt.Sprintf("it exists and belongs to %q", shortened(owner, maxMark))
		switch o.relation(owner) {
		case OwnerGone:
			whose += ", which no longer exists"
		default:
			way = Adopt
		}
	}
	return &Error{Class: ClassOwnershipConflict, Message: fmt.Sprintf("%s; set ownership to %s to take it over, or remove it", whose, way)}
}

// terminating is told of an object that a write would not save.
func terminating(live *unstructured.Unstructured) *Error {
	class := ClassConflict
	if live.GetKind() == "Namespace" && live.GetAPIVersion() == "v1" {
		class = ClassNamespaceTerminating
	}
	message := "it is being deleted; it is made again when it is gone"
	if finalizers := live.GetFinalizers(); len(finalizers) > 0 {
		message += fmt.Sprintf(" (finalizers hold it: %s)", shortened(strings.Join(finalizers, ", "), maxMark))
	}
	return &Error{Class: class, Message: message}
}
