package manifest

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// firstConflictDelay and maxConflictDelay bound how long a field that was just put back is left as another client set it. A single edit is
	// put back at once; two controllers that fight for a field must not keep two API servers busy.
	firstConflictDelay = time.Second
	maxConflictDelay   = 30 * time.Second
)

// conflictBackoffs records the Manifests whose fields other clients keep changing. A quiet minute ends a fight.
type conflictBackoffs struct {
	once    sync.Once
	backoff *flowcontrol.Backoff
}

func (f *conflictBackoffs) open() *flowcontrol.Backoff {
	f.once.Do(func() { f.backoff = flowcontrol.NewBackOff(firstConflictDelay, maxConflictDelay) })
	return f.backoff
}

// recordConflict records that fields of another client were put back.
func (r *Reconciler) recordConflict(key types.NamespacedName) {
	backoff := r.conflicts.open()
	backoff.GC()
	backoff.Next(key.String(), backoff.Clock.Now())
	if r.Repairs != nil && backoff.Get(key.String()) > firstConflictDelay {
		r.Repairs.FieldsContested()
	}
}

// conflictBackoff returns a pause where the only work is to put back what was put back a moment ago; nil otherwise.
func (r *Reconciler) conflictBackoff(key types.NamespacedName, decision inventory.Decision) error {
	for _, step := range decision.Apply {
		if step.Why != inventory.WhyDrifted {
			return nil
		}
	}
	backoff := r.conflicts.open()
	if len(decision.Apply) == 0 || len(decision.Prune) > 0 || !backoff.IsInBackOffSinceUpdate(key.String(), backoff.Clock.Now()) {
		return nil
	}
	return &passResult{
		state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, parsed: true, retry: backoff.Get(key.String()),
		message: decision.Apply[0].Entry.String() + ": another controller or user keeps changing fields that the content declares " +
			"(see the events FieldsPutBack); they are put back again in a moment",
	}
}
