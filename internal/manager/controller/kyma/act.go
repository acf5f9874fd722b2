package kyma

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// parallelWrites bounds how many Manifests of one Kyma are written at once.
	parallelWrites = 8
	// retryRefused is when a refused write is tried again without any event: what refuses it may be outside of what is watched.
	retryRefused = 45 * time.Second
	// retryHeld is when a name is tried again that another owner's Manifest has: its deletion is no event of this Kyma.
	retryHeld = 30 * time.Second
	// retrySoon is for what passes by itself, such as a conflict with another writer.
	retrySoon = time.Second
	// retryFailed is when a failed step in a runtime is tried again for which no event comes.
	retryFailed = 30 * time.Second
)

// write is one write of a plan, with the module that its outcome belongs to.
type write struct {
	module string
	do     func(context.Context) (*v1beta2.Manifest, error)
}

// act writes what the plan contains. One module's failure stops no other; the results name the outcome by module.
func (r *Reconciler) act(ctx context.Context, plan module.Plan) (map[string]module.Result, time.Duration) {
	if plan.Empty() {
		return nil, 0
	}
	writes := r.writes(plan)
	outcomes := make([]module.Result, len(writes))
	pauses := make([]time.Duration, len(writes))
	do := func(from, to int) {
		var group errgroup.Group
		group.SetLimit(parallelWrites)
		for i := from; i < to; i++ {
			group.Go(func() error {
				written, err := writes[i].do(ctx)
				outcomes[i], pauses[i] = resultOf(written, err)
				return nil
			})
		}
		_ = group.Wait() // its functions return no error: each outcome stands by itself
	}
	// A Manifest's successor exists before the Manifest is deleted, which then leaves the objects that both must it.
	stays := len(writes) - len(plan.Delete)
	do(0, stays)
	do(stays, len(writes))
	results := map[string]module.Result{}
	var retry time.Duration
	for i, outcome := range outcomes {
		results[writes[i].module] = mergeResults(results[writes[i].module], outcome)
		retry = soonest(retry, pauses[i])
	}
	return results, retry
}

// mergeResults joins the outcomes of two writes of one module: the first failure, and the Manifest that was written.
func mergeResults(first, second module.Result) module.Result {
	if first.Reason == "" {
		first.Reason, first.Message = second.Reason, second.Message
	}
	if first.Manifest == nil {
		first.Manifest = second.Manifest
	}
	return first
}

func (r *Reconciler) writes(plan module.Plan) []write {
	var writes []write
	for _, manifest := range plan.Apply {
		writes = append(writes, write{manifest.Labels[v1beta2.LabelModuleName], func(ctx context.Context) (*v1beta2.Manifest, error) {
			r.addPlan(ctx, manifest)
			asked := r.Traces.Asking(ctx, client.ObjectKeyFromObject(manifest))
			written, err := r.apply(ctx, manifest)
			if err == nil {
				r.Phases.Requested(written)
			}
			asked(written, err)
			return written, err
		}})
	}
	for _, adjustment := range plan.Adjust {
		writes = append(writes, write{adjustment.Module, func(ctx context.Context) (*v1beta2.Manifest, error) {
			patched := adjustment.Manifest.DeepCopy()
			err := r.Client.Patch(ctx, patched, client.RawPatch(types.MergePatchType, adjustment.Patch))
			return patched, err
		}})
	}
	for i := range plan.Delete {
		manifest := plan.Delete[i].DeepCopy()
		writes = append(writes, write{manifest.Labels[v1beta2.LabelModuleName], func(ctx context.Context) (*v1beta2.Manifest, error) {
			uid, asked := manifest.UID, r.Traces.Asking(ctx, client.ObjectKeyFromObject(manifest))
			err := r.Client.Delete(ctx, manifest, client.Preconditions{UID: &uid})
			asked(nil, err)
			return nil, client.IgnoreNotFound(err)
		}})
	}
	return writes
}

// addPlan lets a Manifest that is new carry what its first pass may apply.
func (r *Reconciler) addPlan(ctx context.Context, manifest *v1beta2.Manifest) {
	if r.Plans == nil || manifest.UID != "" {
		return
	}
	if plan := r.Plans.Plan(ctx, manifest); plan != "" {
		manifest.Annotations[v1beta2.AnnotationPlan] = plan
	}
}

// apply writes a complete Manifest by server-side apply. An existing one carries UID and resourceVersion, so that a stale view is a
// conflict.
func (r *Reconciler) apply(ctx context.Context, manifest *v1beta2.Manifest) (*v1beta2.Manifest, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(manifest)
	if err != nil {
		return nil, fmt.Errorf("convert Manifest %s: %w", manifest.Name, err)
	}
	delete(object, "status")
	unstructured.RemoveNestedField(object, "metadata", "creationTimestamp")
	object["apiVersion"], object["kind"] = v1beta2.GroupVersion.String(), "Manifest"
	body, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode Manifest %s: %w", manifest.Name, err)
	}
	written := manifest.DeepCopy()
	err = r.Client.Patch(ctx, written, client.RawPatch(types.ApplyPatchType, body), client.ForceOwnership)
	return written, err
}

func resultOf(written *v1beta2.Manifest, err error) (module.Result, time.Duration) {
	switch {
	case err == nil:
		return module.Result{Manifest: written}, 0
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return module.Result{Reason: v1beta2.ReasonManifestPending}, retrySoon
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return module.Result{Reason: v1beta2.ReasonManifestRefused, Message: err.Error()}, retryRefused
	default:
		return module.Result{Reason: v1beta2.ReasonManifestPending, Message: err.Error()}, 5 * retrySoon
	}
}
