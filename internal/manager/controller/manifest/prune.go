package manifest

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// prune deletes what is recorded and no longer desired. It comes last, so that an upgrade never removes what it could not replace. A
// definition with objects of other owners stays, and stays recorded: it is deleted by the next content that finds them gone, or with the
// installation; no watch reports them until then. It stops at the first wave of which anything else is left: an operator that is dropped
// with its custom resource must finish that one first.
func (r *Reconciler) prune(ctx context.Context, w *scope, entries []inventory.Entry, options apply.Options) error {
	entries, err := r.markLeaving(ctx, w, entries)
	if err != nil {
		return err
	}
	for _, wave := range inventory.Teardown(entries, nil) {
		options.Successor = r.findSuccessor(ctx, w) // as they are now: a wave before may have taken its time
		waiting := slices.DeleteFunc(r.delete(ctx, w, wave, options), func(o apply.Outcome) bool {
			if o.Action == apply.InUse {
				r.tellKept(w, o)
			}
			return o.Action == apply.InUse
		})
		switch {
		case len(waiting) == 0:
			continue
		case firstError(waiting) != nil:
			return w.refused(ctx, waiting)
		}
		return nil // finalizers hold them; their deletion event brings us back
	}
	return nil
}

// delete deletes one wave and returns what still exists. Most objects are gone at once, so it retries for a moment before it leaves the
// rest to the watch.
func (r *Reconciler) delete(ctx context.Context, w *scope, wave []inventory.Entry, options apply.Options) []apply.Outcome {
	attempt := func(live func(inventory.ID) inventory.Live) []apply.Outcome {
		outcomes := w.runtime.Cluster().Delete(ctx, wave, live, options)
		r.disowned(ctx, w, wave, outcomes, options)
		return r.left(w, wave, outcomes)
	}
	waiting := attempt(w.runtime.Live)
	for pause := 20 * time.Millisecond; mayRetryDelete(waiting) && pause < 500*time.Millisecond; pause *= 3 {
		select {
		case <-ctx.Done():
			return waiting
		case <-time.After(pause):
		}
		wave = slices.DeleteFunc(slices.Clone(wave), func(entry inventory.Entry) bool {
			return !slices.ContainsFunc(waiting, func(o apply.Outcome) bool { return o.ID == entry.ID })
		})
		waiting = attempt(nil)
	}
	return waiting
}

// mayRetryDelete reports whether objects are being deleted without an obstacle.
func mayRetryDelete(waiting []apply.Outcome) bool {
	return len(waiting) > 0 && !slices.ContainsFunc(waiting, func(o apply.Outcome) bool { return o.Err != nil || o.Action == apply.InUse })
}

// left records what a delete did and returns what still exists. What is being deleted is marked, so that the next pass deletes it again; a
// definition that is in use is not marked.
func (r *Reconciler) left(w *scope, entries []inventory.Entry, outcomes []apply.Outcome) []apply.Outcome {
	var gone []inventory.ID
	var still []inventory.Entry
	var waiting []apply.Outcome
	for i, outcome := range outcomes {
		if outcome.Action == apply.Gone || outcome.Action == apply.Kept {
			gone = append(gone, outcome.ID)
			r.tellKept(w, outcome)
			continue
		}
		if outcome.Err != nil {
			w.runtime.Report(outcome.Err)
		}
		entry := entries[i]
		switch {
		case outcome.Action != apply.InUse:
			entry.Hash = ""
		case entry.Leaves(): // it stays, and nothing is left to do for it
			entry.Fields = w.runtime.Live(entry.ID).Fields
		}
		still = append(still, entry)
		waiting = append(waiting, outcome)
	}
	w.recorded = inventory.Merge(w.recorded, still, gone)
	return waiting
}

// tellKept reports why an object was left behind.
func (r *Reconciler) tellKept(w *scope, outcome apply.Outcome) {
	if outcome.Note != "" {
		note := conditions.Note(outcome.ID.String() + " is kept: " + outcome.Note)
		r.Events.Eventf(w.manifest, nil, corev1.EventTypeNormal, v1beta2.ReasonKept, "Delete", "%s", note)
	}
}

// inUse returns which definitions block a deletion, and which objects of them exist; empty when none does.
func inUse(waiting []apply.Outcome) string {
	var notes []string
	for _, outcome := range waiting {
		if outcome.Action == apply.InUse {
			notes = append(notes, outcome.ID.String()+": "+outcome.Note)
		}
	}
	return strings.Join(notes, "; ")
}
