package manifest

import (
	"cmp"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// order is in which order the objects of a Manifest are applied.
type order struct {
	at map[inventory.ID]inventory.Stage
	// namespaces are made first, if they are not there.
	namespaces []string
}

// turns divides steps into what is applied one after the other.
func (o order) turns(steps []inventory.Step) []inventory.Turn {
	return inventory.Turns(steps, func(id inventory.ID) inventory.Stage { return o.at[id] })
}

// gate tells what a later installation still has to wait for: the first object of an earlier one that failed, cannot be seen or is not
// ready, or that a probe says no of; nil when all are ready.
func (r *Reconciler) gate(w *work, part int) *stopped {
	if unready := w.unready(part); unready != nil {
		return unready
	}
	earlier := func(id inventory.ID) bool { return w.order.at[id].Part < part }
	for i := range w.manifest.Spec.Probes {
		if waiting := r.probe(w, &w.manifest.Spec.Probes[i], earlier); waiting != "" {
			message := fmt.Sprintf("%s waits for %s", w.sources[part].Name, waiting)
			return &stopped{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, message: message, parsed: true}
		}
	}
	return nil
}

// unready is the part of gate that looks at the objects' own health.
func (w *work) unready(part int) *stopped {
	for _, object := range w.desired {
		id := inventory.IDOf(object)
		if w.order.at[id].Part >= part {
			continue
		}
		result, kept := w.runtime.Health(id)
		if !kept || result.Status == health.Ready {
			continue
		}
		if hidden := w.runtime.Hidden(w.key); hidden != nil {
			unseen := stopped(failed(hidden))
			unseen.parsed = true
			return &unseen
		}
		held := &stopped{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, parsed: true}
		if result.Status == health.Failed {
			held.state, held.reason = v1beta2.StateError, v1beta2.ReasonObjectFailed
		}
		held.message = fmt.Sprintf("%s waits for %s: %s", w.sources[part].Name, id, cmp.Or(result.Message, "its status was not seen yet"))
		return held
	}
	return nil
}
