package manifest

import (
	"cmp"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// awaitEarlierParts returns what a later installation still waits for: the first object of an earlier one that failed, cannot be observed,
// is not ready or fails a probe; nil when all are ready.
func (r *Reconciler) awaitEarlierParts(w *scope, part int) *passResult {
	if unready := w.unready(part); unready != nil {
		return unready
	}
	earlier := func(id inventory.ID) bool { return w.order.Stage(id).Part < part }
	for i := range w.manifest.Spec.Probes {
		if waiting := r.probe(w, &w.manifest.Spec.Probes[i], earlier); waiting != "" {
			message := fmt.Sprintf("%s waits for %s", w.order.PartName(part), waiting)
			return &passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, message: message, parsed: true}
		}
	}
	return nil
}

// unready is the part of awaitEarlierParts that checks the objects' own health.
func (w *scope) unready(part int) *passResult {
	for _, object := range w.desired {
		id := inventory.IDOf(object)
		if w.order.Stage(id).Part >= part {
			continue
		}
		result, kept := w.runtime.Health(id)
		if !kept || result.Status == health.Ready {
			continue
		}
		if hidden := w.runtime.Hidden(w.key); hidden != nil {
			unseen := failed(hidden)
			unseen.parsed = true
			return &unseen
		}
		held := &passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, parsed: true}
		if result.Status == health.Failed {
			held.state, held.reason = v1beta2.StateError, v1beta2.ReasonObjectFailed
		}
		held.message = fmt.Sprintf("%s waits for %s: %s", w.order.PartName(part), id, cmp.Or(result.Message, "its status was not seen yet"))
		return held
	}
	return nil
}
