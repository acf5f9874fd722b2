package manifest

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// expect says of what upstream recorded that it is there: a create that is bound to fail would go through the webhooks and quotas of the
// runtime for nothing. Its record has neither UIDs nor hashes, and its status does not say which generation it speaks of; ours always does.
func (w *work) expect(steps []inventory.Step) {
	if w.before.Status.ObservedGeneration != 0 {
		return
	}
	for i := range steps {
		recorded := func(e inventory.Entry) bool { return e.ID == steps[i].Entry.ID }
		if steps[i].Why == inventory.WhyNew && slices.ContainsFunc(w.recorded, recorded) {
			steps[i].Why = inventory.WhyTakenOver
		}
	}
}
