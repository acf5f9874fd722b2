package kyma

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// Windows is the policy that says when upgrades with downtime may start.
type Windows interface {
	// Policy is what is in force, nil when nothing is.
	Policy() *module.WindowPolicy
	// OnChange has a function called after another policy came into force.
	OnChange(do func())
}

// policyChanged wakes the Kymas whose upgrades may wait for a window, or for a policy that names one.
func (r *Reconciler) policyChanged() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.Windows.OnChange(func() {
			if ctx.Err() != nil {
				return
			}
			urgency.Add(queue, urgency.Later, r.kymasIn(ctx, waits)...)
		})
		return nil
	})
}

// waits says whether a module of a Kyma may wait for a window: it says so, or it is in error, as it is without a policy.
func waits(kyma *v1beta2.Kyma) bool {
	for i := range kyma.Status.Modules {
		if entry := &kyma.Status.Modules[i]; entry.Maintenance || entry.State == v1beta2.StateError {
			return true
		}
	}
	return false
}
