package kyma

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// silentAtFirst is for how long a new Kyma says nothing while its runtime is being contacted. Most runtimes respond sooner, and the first
	// status then tells what is being installed; one that does not respond at all is told as unreachable before.
	silentAtFirst = 10 * time.Second
	// betweenProgress is the least time between two statuses of which the second one tells nothing but progress.
	betweenProgress = time.Second
)

// statusPause returns for how long a status is not worth a write yet, because the next one will say more; zero: it is to be written. While
// a fleet comes in, these writes are what its hub has least use for. The age of a Kyma is that of the API server's clock: one from the
// future has none.
func statusPause(before, now *v1beta2.Kyma, written, clock time.Time) time.Duration {
	reason, _ := readyReason(now)
	age := clock.Sub(before.CreationTimestamp.Time)
	switch {
	case before.Status.State == "" && now.Status.State == v1beta2.StateProcessing && reason == v1beta2.ReasonRuntimeConnecting && age >= 0:
		return max(silentAtFirst-age, 0)
	case equality.Semantic.DeepEqual(before.Status, now.Status):
		return 0
	case module.OnlyProgress(&before.Status, &now.Status) && !written.After(clock):
		return max(betweenProgress-clock.Sub(written), 0)
	}
	return 0
}

// holdStatus reports whether a Kyma's status is not written in this pass, and when the Kyma is to be reconciled again then. That pass comes
// after those that have more to do.
func (r *Reconciler) holdStatus(before, now *v1beta2.Kyma, clock time.Time) (result ctrl.Result, hold bool) {
	written, _ := r.written.Load(client.ObjectKeyFromObject(now))
	at, _ := written.(time.Time)
	pause := statusPause(before, now, at, clock)
	return ctrl.Result{RequeueAfter: pause, Priority: new(int(priority.Soon))}, pause > 0
}
