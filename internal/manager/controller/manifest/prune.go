package manifest

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// prune deletes what is recorded and no longer desired. It comes last, so that an upgrade never removes what it could not replace. A
// definition with objects of other owners stays, and stays recorded: it is deleted by the next content that finds them gone, or with the
// installation; no watch reports them until then.
func (r *Reconciler) prune(ctx context.Context, w *scope, entries []inventory.Entry, options apply.Options) error {
	entries, err := r.markLeaving(ctx, w, entries)
	if err != nil {
		return err
	}
	left := engine.DeleteWaves(ctx, inventory.Teardown(entries, nil), true, r.remover(w, options, true))
	if firstError(left.Outcomes) != nil {
		return w.refused(ctx, left.Outcomes)
	}
	return nil // the deletion event of what finalizers hold brings us back
}

// remover returns what deletes one wave, and reports and records it. passUsed means that definitions in use are passed by, which an event
// tells.
func (r *Reconciler) remover(w *scope, options apply.Options, passUsed bool) engine.Remover {
	return func(ctx context.Context, wave []inventory.Entry, again bool) engine.Remains {
		var live func(inventory.ID) inventory.Live
		if !again {
			live = w.runtime.Live
			options.Successor = r.findSuccessor(ctx, w) // as they are now: a wave before may have taken its time
		}
		outcomes := w.runtime.Cluster().Delete(ctx, wave, live, options)
		r.disowned(ctx, w, wave, outcomes, options)
		for _, outcome := range outcomes {
			if passUsed && outcome.Action == apply.InUse {
				r.tellKept(w, outcome)
			}
		}
		return r.recordRemains(w, wave, outcomes)
	}
}

// recordRemains records what a delete did and returns what still exists.
func (r *Reconciler) recordRemains(w *scope, entries []inventory.Entry, outcomes []apply.Outcome) engine.Remains {
	for _, outcome := range outcomes {
		switch {
		case outcome.Action == apply.Gone, outcome.Action == apply.Kept:
			r.tellKept(w, outcome)
		case outcome.Err != nil:
			w.runtime.Report(outcome.Err)
		}
	}
	left := engine.RemainsOf(entries, outcomes)
	for i, outcome := range left.Outcomes {
		if outcome.Action == apply.InUse && left.Still[i].Leaves() { // it stays, and nothing is left to do for it
			left.Still[i].Fields = w.runtime.Live(outcome.ID).Fields
		}
	}
	w.recorded = inventory.Merge(w.recorded, left.Still, left.Gone)
	return left
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
