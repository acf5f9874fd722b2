package kyma

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Windows is the policy for when upgrades with downtime may start.
type Windows interface {
	// Policy returns the policy in force, nil without one.
	Policy() *module.WindowPolicy
	// OnChange registers a function that is called after another policy took effect.
	OnChange(do func())
}

// policyChanged enqueues the Kymas whose upgrades may wait for a window, or for a policy that defines one.
func (r *Reconciler) policyChanged() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.Windows.OnChange(func() {
			if ctx.Err() != nil {
				return
			}
			priority.Add(queue, priority.Later, r.kymasIn(ctx, waits)...)
		})
		return nil
	})
}

// waits reports whether a module of a Kyma may wait for a window: its status says so, or it is in error, as it is without a policy.
func waits(kyma *v1beta2.Kyma) bool {
	for i := range kyma.Status.Modules {
		if entry := &kyma.Status.Modules[i]; entry.Maintenance || entry.State == v1beta2.StateError {
			return true
		}
	}
	return false
}

// awaitingWindow returns the modules of which an upgrade waits for a maintenance window.
func awaitingWindow(verdicts []module.Verdict) (modules []string) {
	for i := range verdicts {
		if !verdicts[i].WakeAt.IsZero() {
			modules = append(modules, verdicts[i].Module)
		}
	}
	return modules
}
