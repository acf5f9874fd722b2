package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// awaitEarlierParts returns what a later installation still waits for: the first object of an earlier one that failed, cannot be observed,
// is not ready or fails a probe; nil when all are ready.
func (r *Reconciler) awaitEarlierParts(w *scope, part int) *passResult {
	unready := w.order.AwaitEarlierParts(part, r.compiledProbes(w), w)
	if len(unready) == 0 {
		return nil
	}
	first := unready[0]
	if hidden := w.runtime.Hidden(w.key); hidden != nil && first.Probe == nil {
		unseen := failed(hidden)
		unseen.parsed = true
		return &unseen
	}
	held := &passResult{
		state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, parsed: true,
		message: w.order.PartName(part) + " waits for " + first.String(),
	}
	if first.Failed {
		held.state, held.reason = v1beta2.StateError, v1beta2.ReasonObjectFailed
	}
	return held
}

// Health implements engine.Observer by the streams.
func (w *scope) Health(id inventory.ID) (result health.Result, checked bool) {
	return w.runtime.Health(id)
}

// Object implements engine.Observer. An object that was not observed yet need not be when everything was Ready before: the manager was
// restarted then.
func (w *scope) Object(id inventory.ID) (object *unstructured.Unstructured, seen bool) {
	object, seen = w.runtime.Object(id)
	return object, seen || w.wasReady()
}
