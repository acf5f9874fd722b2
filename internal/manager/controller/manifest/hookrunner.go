package manifest

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryHook is the safety net under the events of what hooks run.
const retryHook = 15 * time.Second

// hookRunner is the engine.HookRunner of one part of a Manifest.
type hookRunner struct {
	reconciler *Reconciler
	scope      *scope
	release    *engine.Release
	options    apply.Options
}

// Recorded implements engine.HookRunner.
func (h *hookRunner) Recorded() []inventory.Entry { return h.scope.recorded }

// Record implements engine.HookRunner.
func (h *hookRunner) Record(done []inventory.Entry) {
	h.scope.recorded = inventory.Merge(h.scope.recorded, done, nil)
}

// Stored implements engine.HookRunner.
func (h *hookRunner) Stored() *hooks.Progress {
	return progressIn(&h.scope.before.Status, h.release.Name)
}

// Store implements engine.HookRunner. The kinds of the hooks are observed from here on.
func (h *hookRunner) Store(ctx context.Context, progress hooks.Progress) error {
	h.scope.reach(h.release, progress)
	h.reconciler.track(h.scope)
	return h.reconciler.reportApplying(ctx, h.scope, true)
}

// Look implements engine.HookRunner.
func (h *hookRunner) Look(ctx context.Context, hook hooks.Hook) (live *unstructured.Unstructured, ours bool, err error) {
	live, err = get(ctx, h.scope.runtime.Cluster(), hook.Object)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, h.scope.clusterProblem(hook.ID(), err)
	}
	return live, live.GetAnnotations()[v1beta2.AnnotationOwnedBy] == h.scope.owner(), nil
}

// Write implements engine.HookRunner.
func (h *hookRunner) Write(
	ctx context.Context, hook hooks.Hook, object *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	live, outcome := engine.WriteHook(ctx, h.scope.runtime.Cluster(), hook, object, h.options)
	outcomes := []apply.Outcome{outcome}
	h.reconciler.tellOverruled(ctx, h.scope, outcomes)
	if outcome.Err != nil {
		h.scope.runtime.Report(outcome.Err)
		return nil, h.scope.refused(ctx, outcomes)
	}
	return live, nil
}

// Delete implements engine.HookRunner.
func (h *hookRunner) Delete(ctx context.Context, entries []inventory.Entry) error {
	left := engine.DeleteWave(ctx, entries, h.reconciler.remover(h.scope, h.options, true))
	if firstError(left.Outcomes) != nil {
		return h.scope.refused(ctx, left.Outcomes)
	}
	return nil
}

// Waits implements engine.HookRunner.
func (h *hookRunner) Waits(hook hooks.Hook, event hooks.Event, verdict hooks.Verdict, why string) *passResult {
	found := &passResult{
		state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForHook, retry: retryHook, parsed: true,
		message: fmt.Sprintf("hook %s of %s: %s: %s", event, h.release.Name, hook.ID(), why),
	}
	switch verdict {
	case hooks.Failed:
		found.state, found.reason = v1beta2.StateError, v1beta2.ReasonChartHookFailed
		found.message += "; what runs stays as it is: delete the object to try again, or ask for another version or other values"
	case hooks.Foreign:
		found.state, found.reason = v1beta2.StateError, v1beta2.ReasonOwnershipConflict
		found.message += "; delete or rename that object"
	default:
	}
	if event.OfDeletion() {
		found.state = v1beta2.StateDeleting
		found.message += "; " + wayOut
	}
	return found
}
