package manifest

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// blocksItsBackend reports whether a webhook configuration, which both versions have alike, may be removed because of a blocked write: that
// is of an object that comes before webhooks, and may be what the webhook needs to answer. What comes after them waits for the webhook
// instead.
func blocksItsBackend(entry inventory.Entry, blocked inventory.ID) bool {
	return inventory.Phase(blocked.GroupKind()) < inventory.Phase(entry.GroupKind())
}

// isUnchanged reports whether a recorded object is as the content wants it, and nothing of it is to be written.
func (w *scope) isUnchanged(entry inventory.Entry, steps []inventory.Step) bool {
	for _, step := range steps {
		if step.Entry.ID == entry.ID {
			return false
		}
	}
	for _, object := range w.desired {
		if inventory.IDOf(object) == entry.ID {
			return entry.Hash == inventory.ContentHash(object)
		}
	}
	return false
}

// postponeWebhooks takes webhook configurations that were installed and are gone out of the decision of a Manifest that is going back: they
// may have been removed because they stood in its way, and would do so again before what answers for them is ready.
func (w *scope) postponeWebhooks(decision *inventory.Decision) {
	if !w.wentBack() || !w.isGoingBack() {
		return
	}
	steps := decision.Apply[:0:0]
	for _, step := range decision.Apply {
		resource, decides := webhookKinds[step.Entry.Kind]
		gone := step.Entry.UID != "" && w.runtime.Live(step.Entry.ID).Presence == inventory.Absent
		if decides && step.Entry.Group == resource.Group && gone {
			w.postponed = append(w.postponed, step)
			continue
		}
		steps = append(steps, step)
	}
	decision.Apply = steps
}

// putBackWebhooks applies what was postponed, once everything else is ready, and returns how the installation is then. Until then the
// event of what is not ready wakes the Manifest.
func (r *Reconciler) putBackWebhooks(ctx context.Context, w *scope, found passResult) (passResult, error) {
	steps := w.postponed
	if len(steps) == 0 || found.state != v1beta2.StateReady {
		return found, nil
	}
	w.postponed = nil
	if err := r.plan(ctx, w, steps); err != nil {
		return r.failure(err)
	}
	writer := &batchWriter{reconciler: r, scope: w, options: r.options(ctx, w)}
	failed, held, err := engine.ApplyBatches(ctx, w.order.Batches(steps), w.order.Parts(), writer)
	switch {
	case err != nil:
		return r.failure(err)
	case len(failed) > 0:
		return r.failure(w.refused(ctx, failed))
	case held != nil:
		return *held, nil //nolint:nilerr // err is nil here: it was looked at first
	}
	return r.healthy(w), nil
}
