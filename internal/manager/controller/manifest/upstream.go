package manifest

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// expect marks what upstream recorded as existing: a create that is bound to fail would pass the webhooks and quotas of the runtime for
// nothing. Upstream's record has neither UIDs nor hashes, and its status does not name its generation; ours always does.
func (w *scope) expect(steps []inventory.Step) {
	if w.before.Status.ObservedGeneration > 0 || hasFirstPlan(w.before) {
		return
	}
	for i := range steps {
		recorded := func(e inventory.Entry) bool { return e.ID == steps[i].Entry.ID }
		if steps[i].Why == inventory.WhyNew && slices.ContainsFunc(w.recorded, recorded) {
			steps[i].Why = inventory.WhyTakenOver
		}
	}
}
