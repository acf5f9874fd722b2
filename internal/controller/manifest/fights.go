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
	// firstTruce and longestTruce bound how long a field that was just put back is left as somebody else wants it. A single edit is put
	// back at once; two controllers that fight for a field must not keep two API servers busy.
	firstTruce   = time.Second
	longestTruce = 30 * time.Second
)

// fights remembers who keeps changing what we put back. A quiet minute ends a fight.
type fights struct {
	once    sync.Once
	backoff *flowcontrol.Backoff
}

func (f *fights) open() *flowcontrol.Backoff {
	f.once.Do(func() { f.backoff = flowcontrol.NewBackOff(firstTruce, longestTruce) })
	return f.backoff
}

// fought notes that fields of somebody else were put back.
func (r *Reconciler) fought(key types.NamespacedName) {
	backoff := r.fights.open()
	backoff.GC()
	backoff.Next(key.String(), backoff.Clock.Now())
}

// fighting says to wait, where there is nothing to do but to put back what was put back a moment ago; nil otherwise.
func (r *Reconciler) fighting(key types.NamespacedName, decision inventory.Decision) error {
	for _, step := range decision.Apply {
		if step.Why != inventory.WhyDrifted {
			return nil
		}
	}
	backoff := r.fights.open()
	if len(decision.Prune) > 0 || !backoff.IsInBackOffSinceUpdate(key.String(), backoff.Clock.Now()) {
		return nil
	}
	return &stopped{
		state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, parsed: true, retry: backoff.Get(key.String()),
		message: decision.Apply[0].Entry.String() + ": somebody keeps changing fields that the content declares " +
			"(see the events FieldsPutBack); they are put back again in a moment",
	}
}
