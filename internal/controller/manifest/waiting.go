package manifest

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// blocked tells what holds the deletion, and keeps the module running for it.
func (r *Reconciler) blocked(ctx context.Context, w *work, blockade module.Blockade) (*finding, error) {
	compared, err := r.keepRunning(ctx, w)
	if err != nil {
		return nil, err
	}
	return &finding{
		state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked, parsed: compared,
		message: conditions.Cut(v1beta2.OperationWaitingModuleCRs + ": " + blockade.Message()),
		retry:   retryDeleting, // where a runtime has more kinds than are watched, no event tells of their end
	}, nil
}

// meanwhile keeps the module running while a step waits for something, or is refused: its operator has to be whole to let go, and may need
// the next version for that. A runtime that does not answer or let us in is left alone.
func (r *Reconciler) meanwhile(ctx context.Context, w *work, step func(context.Context, *work) (*finding, error)) (*finding, error) {
	waiting, err := step(ctx, w)
	problem := problemOf(err)
	switch {
	case waiting != nil:
		waiting.parsed, err = r.keepRunning(ctx, w)
	case problem == nil, problem.Reason == v1beta2.ReasonRuntimeUnreachable, problem.Reason == v1beta2.ReasonRuntimeUnauthorized:
	default:
		if _, failed := r.keepRunning(ctx, w); failed != nil {
			err = failed
		}
	}
	return waiting, err
}
