package manifest

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// blocked reports what blocks the deletion, and keeps the module running meanwhile.
func (r *Reconciler) blocked(ctx context.Context, w *scope, blockade module.Blockade) error {
	compared, err := r.keepRunning(ctx, w)
	if err != nil {
		return err
	}
	return &passResult{
		state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked, parsed: compared,
		message: conditions.Cut(v1beta2.OperationWaitingModuleCRs + ": " + blockade.Message()),
		retry:   retryDeleting, // where a runtime has more kinds than are watched, no event tells of their end
	}
}

// keepRunningDuring keeps the module running while a step waits for something, or is refused: its operator must work to remove its
// finalizers, and may need the next version for that. A runtime that does not respond or refuses our credentials is left alone.
func (r *Reconciler) keepRunningDuring(ctx context.Context, w *scope, step func(context.Context, *scope) error) error {
	err := step(ctx, w)
	if result := resultOf(err); result.waits() {
		var failed error
		if result.parsed, failed = r.keepRunning(ctx, w); failed != nil {
			return failed
		}
		return result
	}
	problem := problemOf(err)
	if problem == nil || problem.Reason == v1beta2.ReasonRuntimeUnreachable || problem.Reason == v1beta2.ReasonRuntimeUnauthorized {
		return err
	}
	if _, failed := r.keepRunning(ctx, w); failed != nil {
		return failed
	}
	return err
}
