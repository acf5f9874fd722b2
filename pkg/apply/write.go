package apply

import (
	"context"
	"errors"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Apply writes one phase: steps in any order, Options.Workers at a time. Outcomes come in the order of the steps. One bad object
// stops no other; only when no call to the cluster can succeed are the rest skipped, with the same Class.
func (c *Cluster) Apply(ctx context.Context, steps []inventory.Step, opts Options) []Outcome {
	r := &run{Cluster: c, Options: opts}
	outcomes := make([]Outcome, len(steps))
	r.each(len(steps), func(i int) { outcomes[i] = r.write(ctx, steps[i]) })
	return outcomes
}

// move is the next call for an object.
type move int

const (
	moveCreate   move = iota // it fails on any object that exists
	moveChange               // server-side apply to the recorded object, without a read
	moveOwn                  // migrate the untouched fields of our create, without a read; then moveChange
	moveTakeOver             // read, judge, migrate, server-side apply
)

// writing is one object that is to be written.
type writing struct {
	*run
	step     inventory.Step
	id       inventory.ID
	object   *unstructured.Unstructured // as it is sent
	client   dynamic.ResourceInterface
	resource Resource
	live     *unstructured.Unstructured // as it was read last; nil when it was not
	version  string                     // the resourceVersion that a server-side apply fits; "" for any

	reversioned bool // the fields that we own were said to be of the present version
}

// write writes one object to the cluster.
func (r *run) write(ctx context.Context, step inventory.Step) Outcome {
	w, outcome := r.begin(ctx, step)
	if w == nil {
		return outcome
	}
	return w.finish(ctx)
}

// begin prepares the write of an object. When the write is known to be of no use, it returns nil and the outcome.
func (r *run) begin(ctx context.Context, step inventory.Step) (*writing, Outcome) {
	id := inventory.IDOf(step.Object)
	if outcome, skip := r.skipped(id); skip {
		return nil, outcome
	}
	client, resource, err := r.client(ctx, step.Object.GroupVersionKind(), id)
	if err != nil {
		return nil, r.failed(id, "apply", err, step.Object)
	}
	return &writing{run: r, step: step, id: id, object: declared(step.Object), client: client, resource: resource}, Outcome{}
}

// finish makes one move after another until one ends in an outcome.
func (w *writing) finish(ctx context.Context) Outcome {
	next := w.first()
	for range turns {
		var outcome *Outcome
		switch next {
		case moveCreate:
			outcome, next = w.create(ctx)
		case moveChange:
			outcome, next = w.change(ctx)
		case moveOwn:
			next = w.own(ctx)
		case moveTakeOver:
			outcome, next = w.takeOver(ctx)
		}
		if outcome != nil {
			return *outcome
		}
	}
	return w.failed(w.id, "apply", contended())
}

// first returns the cheapest move that is safe according to the inventory and the watch streams.
func (w *writing) first() move {
	entry, live := w.step.Entry, inventory.Live{}
	if w.Live != nil {
		live = w.Live(w.id)
	}
	switch {
	case w.step.Why == inventory.WhyTakenOver:
		return moveTakeOver
	case w.step.Why == inventory.WhyNew, w.step.Why == inventory.WhyMissing, entry.UID == "", live.Presence == inventory.Absent:
		return moveCreate
	case w.step.Why == inventory.WhyReplaced, w.dry, w.undeclaredReplicas():
		return moveTakeOver
	case live.Presence != inventory.Present:
		live = inventory.Live{UID: entry.UID, Owner: w.Owner, Fields: entry.Fields}
	}
	switch {
	case live.UID != entry.UID, w.relation(live.Owner) != OwnerSelf, live.Terminating:
	case strings.HasPrefix(live.Fields, inventory.FieldsApplied):
		return moveChange
	case w.step.Why == inventory.WhyChanged && live.Fields == entry.Fields && strings.HasPrefix(live.Fields, inventory.FieldsCreated):
		return moveOwn
	}
	return moveTakeOver
}

// create makes the first write of an object. FieldValidation is strict because server-side apply always is: content that a later change
// could not apply is not accepted at first either.
func (w *writing) create(ctx context.Context) (*Outcome, move) {
	opts := metav1.CreateOptions{FieldManager: w.Manager, FieldValidation: metav1.FieldValidationStrict, DryRun: w.dryRun()}
	made, err := Create(ctx, w.client, w.resource, w.object, opts)
	switch {
	case err == nil:
		w.learned(made)
		return done(w.succeeded(w.id, Created, made))
	case apierrors.IsAlreadyExists(err):
		return nil, moveTakeOver
	}
	return done(w.failed(w.id, "create", err, w.object))
}

// change makes every later write of an object, in one call. When the object is not the recorded one, or no longer carries our mark,
// it is read first.
func (w *writing) change(ctx context.Context) (*Outcome, move) {
	applied, err := w.apply(ctx, w.object, w.step.Entry.UID, false)
	switch {
	case err == nil:
		return done(w.applied(Updated, applied))
	case anotherObject(err), isVersionGone(err):
		return nil, moveTakeOver
	}
	return done(w.failed(w.id, "apply", err, w.object))
}

// takeOver writes an object that may not be ours, or that was created and never applied.
func (w *writing) takeOver(ctx context.Context) (*Outcome, move) {
	live, err := w.client.Get(ctx, w.id.Name, metav1.GetOptions{})
	w.live = nil
	if absent(err) {
		return nil, moveCreate
	}
	if err != nil {
		return done(w.failed(w.id, "read", err, w.object))
	}
	w.live = live
	action, note := Updated, ""
	verdict := judge(w.mark(live), w.claim(live), live.GetUID() == w.step.Entry.UID, w.Options)
	switch {
	case verdict == refuse:
		return done(w.failed(w.id, "apply", w.foreign(live)))
	case live.GetDeletionTimestamp() != nil: // a sibling's, too: it does not keep an object that it deletes
		return done(w.failed(w.id, "apply", Terminating(live)))
	case verdict == share:
		outcome := w.succeeded(w.id, Shared, live)
		outcome.Owner = w.mark(live)
		return done(outcome)
	case verdict == adopt:
		action, note = Adopted, adoptedFrom(live)
	}
	migrated, err := w.migrate(ctx, live, action)
	if err == nil {
		w.version = ""
		if w.relation(w.mark(live)) != OwnerSelf { // it could get another owner since it was read, whose mark has another key
			w.version = migrated.GetResourceVersion()
		}
		var result applied
		if result, err = w.apply(ctx, w.handOver(live, w.ours(action)), live.GetUID(), true); err == nil {
			if action == Updated && result.object.GetResourceVersion() == live.GetResourceVersion() {
				action = Unchanged
			}
			outcome := w.applied(action, result)
			outcome.Note = note
			return done(outcome)
		}
	}
	if isVersionGone(err) && !w.reversioned && !w.dry {
		w.reversioned = true
		err = w.reversion(ctx, live)
		if err == nil {
			return nil, moveTakeOver
		}
	}
	if anotherObject(err) || absent(err) {
		return nil, moveTakeOver
	}
	return done(w.failed(w.id, "apply", err, w.object, live))
}

// declared returns the part of an object that is sent: without the fields that the API server fills in. Rendered content usually has none
// of them; exported content does, and they would make every write fail. The copy is shallow, and the object itself is not changed.
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

// anotherObject reports whether a write met an object other than the intended one. The API server reports a differing UID as an attempt to
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

// absent reports whether the object itself does not exist, not its namespace and not its kind.
func absent(err error) bool { return apierrors.IsNotFound(err) && Classify(err) == ClassConflict }
