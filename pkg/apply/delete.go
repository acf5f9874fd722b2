package apply

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Delete removes one wave: entries in any order, Options.Workers at a time. Outcomes come in the order of the entries. live returns the
// state in the watch streams; may be nil. Delete does not wait: an object whose deletion was accepted is Deleted, and Gone in a later call.
func (c *Cluster) Delete(ctx context.Context, entries []inventory.Entry, live func(inventory.ID) inventory.Live, opts Options) []Outcome {
	if live == nil {
		live = func(inventory.ID) inventory.Live { return inventory.Live{} }
	}
	r := &run{Cluster: c, Options: opts}
	outcomes := make([]Outcome, len(entries))
	r.each(len(entries), func(i int) { outcomes[i] = r.remove(ctx, entries[i], live(entries[i].ID)) })
	return outcomes
}

// Disown gives up objects: each loses our mark, or gets that of its successor, and stays as it is. Outcomes come in the order of the
// entries. A second call passes over what the first has done.
func (c *Cluster) Disown(ctx context.Context, entries []inventory.Entry, opts Options) []Outcome {
	r := &run{Cluster: c, Options: opts, disowning: true}
	outcomes := make([]Outcome, len(entries))
	r.each(len(entries), func(i int) { outcomes[i] = r.remove(ctx, entries[i], inventory.Live{}) })
	return outcomes
}

// deleting is one object that is to be deleted.
type deleting struct {
	*run
	id     inventory.ID
	client dynamic.ResourceInterface
	seen   *unstructured.Unstructured // as it was read; nil when the watch stream's state was enough
}

// remove deletes an object that carries our mark. Its entry proves that the inventory claims it. The mark is taken from the watch stream,
// or read where the stream lacks the object or shows another mark, or where more than the mark decides (looksFirst). Absence is never taken
// from the stream: after an outage it lags behind a write whose response was lost, and an object that counts as gone leaves the inventory.
func (r *run) remove(ctx context.Context, entry inventory.Entry, live inventory.Live) Outcome {
	ours := live.Presence == inventory.Present && r.relation(live.Owner) == OwnerSelf
	switch {
	case !r.disowning && r.keeps(entry.ID):
		return Outcome{ID: entry.ID, Action: Kept, UID: entry.UID, Note: "others use this namespace, too"}
	case ours && live.Terminating:
		return Outcome{ID: entry.ID, Action: Deleted, UID: live.UID}
	}
	if outcome, skip := r.skipped(entry.ID); skip {
		return outcome
	}
	known := live.UID
	if !ours {
		known = ""
	}
	outcome := r.removeAs(ctx, entry, known)
	if outcome.Class != ClassKindUnknown {
		return outcome
	}
	// The object exists in every version that is served, and cannot outlive the last of them.
	versions, err := r.otherVersions(ctx, entry.GroupKind(), entry.Version)
	if err != nil {
		return r.failed(entry.ID, "delete", err)
	}
	for _, entry.Version = range versions {
		if outcome = r.removeAs(ctx, entry, known); outcome.Class != ClassKindUnknown {
			return outcome
		}
	}
	return Outcome{ID: entry.ID, Action: Gone, UID: entry.UID}
}

// removeAs is remove in one version of the kind. known is the UID of an object that a stream shows as ours.
func (r *run) removeAs(ctx context.Context, entry inventory.Entry, known types.UID) Outcome {
	client, _, err := r.client(ctx, entry.GroupKind().WithVersion(entry.Version), entry.ID)
	switch {
	case entry.Namespace == "" && Classify(err) == ClassRefused:
		// It was planned before its kind was known to be namespaced, and so it was never written under this identity.
		return Outcome{ID: entry.ID, Action: Gone, UID: entry.UID}
	case err != nil:
		return r.failed(entry.ID, "delete", err)
	}
	d := &deleting{run: r, id: entry.ID, client: client}
	if known != "" && !r.looksFirst(entry.ID) {
		if outcome := d.release(ctx, known, ""); outcome != nil {
			return *outcome
		}
	}
	for range turns {
		if outcome := d.readAndRelease(ctx); outcome != nil {
			return *outcome
		}
	}
	return r.failed(entry.ID, "delete", contended())
}

func (o Options) keeps(id inventory.ID) bool {
	return isNamespace(id) && slices.Contains(o.KeepNamespaces, id.Name)
}

// looksFirst reports whether an object is read before it is deleted, though a stream shows it as ours: one whose deletion also deletes
// objects of others, and every object where Kept is not set.
func (r *run) looksFirst(id inventory.ID) bool {
	return r.Kept == nil || isDefinition(id) || (isNamespace(id) && r.Kinds != nil)
}

// readAndRelease reads the object before it decides; nil when the object changed in between.
func (d *deleting) readAndRelease(ctx context.Context) *Outcome {
	live, err := d.client.Get(ctx, d.id.Name, metav1.GetOptions{})
	var outcome Outcome
	switch {
	case nowhere(err):
		outcome = Outcome{ID: d.id, Action: Gone}
	case err != nil:
		outcome = d.failed(d.id, "read", err)
	case d.relation(d.mark(live)) != OwnerSelf:
		outcome = d.succeeded(d.id, Kept, live)
		outcome.Owner, outcome.Note = d.mark(live), "it does not carry our owner mark"
	case !d.disowning && d.claim(live) != "":
		outcome = d.succeeded(d.id, Kept, live)
		outcome.Note = "it belongs to " + shortened(d.claim(live), maxReason) + ", too"
	case live.GetDeletionTimestamp() != nil:
		outcome = d.succeeded(d.id, Deleted, live)
	default:
		// The decision rests on the mark that was read, so the object must not have changed since.
		d.seen = live
		return d.release(ctx, live.GetUID(), live.GetResourceVersion())
	}
	return &outcome
}

// release deletes the object, unless one of the following holds, in this order; nil when the object was changed or replaced meanwhile.
//
//  1. It has a successor: it is handed over.
//  2. Nothing is deleted: it loses our mark.
//  3. It carries AnnotationKeep: Kept.
//  4. It is a Namespace that holds objects of others: Kept.
//  5. It is a CustomResourceDefinition, and others have objects of it: InUse.
func (d *deleting) release(ctx context.Context, uid types.UID, version string) *Outcome {
	if d.Successor != nil {
		if successor := d.Successor(d.id); successor != "" {
			return d.handOver(ctx, successor, uid, version)
		}
	}
	if d.disowning {
		return d.handOver(ctx, "", uid, version)
	}
	if outcome := d.stays(ctx, uid); outcome != nil {
		return outcome
	}
	background := metav1.DeletePropagationBackground
	opts := metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}, DryRun: d.dryRun()}
	if version != "" {
		opts.Preconditions.ResourceVersion = &version
	}
	err := d.client.Delete(ctx, d.id.Name, opts)
	var outcome Outcome
	switch {
	case err == nil:
		outcome = Outcome{ID: d.id, Action: Deleted, UID: uid}
	case nowhere(err):
		outcome = Outcome{ID: d.id, Action: Gone, UID: uid}
	case apierrors.IsConflict(err):
		return nil
	default:
		outcome = d.failed(d.id, "delete", err, d.seen)
	}
	return &outcome
}

// handOver marks the object as the successor's, or as no owner's where that is empty; nil when the object was changed or replaced
// meanwhile.
func (d *deleting) handOver(ctx context.Context, successor string, uid types.UID, version string) *Outcome {
	var mark any // none removes the annotation
	verb, note := "let go of", "it stays as it is, without an owner"
	if successor != "" {
		heir := strconv.Quote(shortened(successor, maxMark))
		mark, verb, note = successor, "hand to "+heir+":", "it belongs to "+heir+" now, which lists it too"
	}
	metadata := map[string]any{"uid": uid, "annotations": map[string]any{d.OwnerKey: mark}}
	if version != "" {
		metadata["resourceVersion"] = version
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	var handed *unstructured.Unstructured
	if err == nil {
		opts := metav1.PatchOptions{FieldManager: d.Manager, DryRun: d.dryRun()}
		handed, err = d.client.Patch(ctx, d.id.Name, types.MergePatchType, patch, opts)
	}
	var outcome Outcome
	switch {
	case err == nil:
		d.learned(handed)
		outcome = d.succeeded(d.id, Kept, handed)
		outcome.Successor = successor
		outcome.Note = note
	case nowhere(err):
		outcome = Outcome{ID: d.id, Action: Gone, UID: uid}
	case anotherObject(err):
		return nil
	default:
		outcome = d.failed(d.id, verb, err, d.seen)
	}
	return &outcome
}

// nowhere reports whether the object does not exist, or not even its namespace does.
func nowhere(err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	class := Classify(err)
	return class == ClassConflict || class == ClassNamespaceMissing
}
