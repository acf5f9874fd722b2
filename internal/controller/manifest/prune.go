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

// prune deletes what is recorded and no longer asked for. It comes last, so that an upgrade never takes down what it could not replace. A
// definition whose objects others made stays, and stays recorded: it goes with the next content that finds them gone, or with the
// installation; no watch tells of them until then. It stops at the first wave of which anything else is left: an operator that is dropped
// with its custom resource has to let go of that first.
func (r *Reconciler) prune(ctx context.Context, w *work, entries []inventory.Entry, options apply.Options) error {
	entries, err := r.leave(ctx, w, entries)
	if err != nil {
		return err
	}
	for _, wave := range inventory.Teardown(entries, nil) {
		options.Heirs = r.heirs(ctx, w) // as they are now: a wave before may have taken its time
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

// delete deletes one wave and returns what is still there. Most objects are gone at once, so it looks again for a moment before it
// leaves the rest to the watch.
func (r *Reconciler) delete(ctx context.Context, w *work, wave []inventory.Entry, options apply.Options) []apply.Outcome {
	attempt := func(live func(inventory.ID) inventory.Live) []apply.Outcome {
		outcomes := w.runtime.Cluster().Delete(ctx, wave, live, options)
		r.disowned(ctx, w, wave, outcomes, options)
		return r.left(w, wave, outcomes)
	}
	waiting := attempt(w.runtime.Live)
	for pause := 20 * time.Millisecond; looksAgain(waiting) && pause < 500*time.Millisecond; pause *= 3 {
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

// looksAgain tells that objects are on their way out and nothing stands in it.
func looksAgain(waiting []apply.Outcome) bool {
	return len(waiting) > 0 && !slices.ContainsFunc(waiting, func(o apply.Outcome) bool { return o.Err != nil || o.Action == apply.InUse })
}

// left records what a delete did and returns what is still there. What is on its way out is marked, so that the next pass deletes it again;
// a definition that is in use stays as it is.
func (r *Reconciler) left(w *work, entries []inventory.Entry, outcomes []apply.Outcome) []apply.Outcome {
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
		if outcome.Action != apply.InUse {
			entry.Hash = ""
		}
		still = append(still, entry)
		waiting = append(waiting, outcome)
	}
	w.recorded = inventory.Merge(w.recorded, still, gone)
	return waiting
}

// tellKept says why an object was left behind.
func (r *Reconciler) tellKept(w *work, outcome apply.Outcome) {
	if outcome.Note != "" {
		note := conditions.Note(outcome.ID.String() + " is kept: " + outcome.Note)
		r.Events.Eventf(w.manifest, nil, corev1.EventTypeNormal, v1beta2.ReasonKept, "Delete", "%s", note)
	}
}

// inUse tells which definitions hold a deletion, and what of them exists; empty when none does.
func inUse(waiting []apply.Outcome) string {
	var notes []string
	for _, outcome := range waiting {
		if outcome.Action == apply.InUse {
			notes = append(notes, outcome.ID.String()+": "+outcome.Note)
		}
	}
	return strings.Join(notes, "; ")
}
