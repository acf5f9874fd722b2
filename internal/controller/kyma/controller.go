package kyma

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Reconciler brings Kymas to what their spec asks for.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Reader reads past the cache.
	Reader client.Reader
	// Components reads component versions.
	Components Components
	// Shard says which Kymas are this replica's.
	Shard shard.Owner
	// Events tells people what happened.
	Events events.EventRecorder
	// Restricted are the modules that only the Kymas may have which their release selects.
	Restricted []string
	// Metrics publishes states.
	Metrics Metrics
	// Now is the clock.
	Now func() metav1.Time
}

// Reconcile is the path of one Kyma.
//
//  1. Not there or not ours: nothing to do.
//  2. Being deleted: the next step of the teardown.
//  3. Label skip-reconciliation: left alone.
//  4. Finalizer and label are there before anything is made that would need them.
//  5. Observe, resolve, plan, act.
//  6. One status patch, skipped when nothing differs.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if !r.Shard.Mine(shard.Bucket(req.Namespace, req.Name)) {
		return ctrl.Result{}, nil
	}
	result, err := r.pass(ctx, req)
	switch {
	case err == nil:
		return result, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctrl.Result{}, nil // the manager ends; what was cut off is no error
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		// Somebody else wrote meanwhile; the event of that write may already be in the queue, but need not.
		return ctrl.Result{RequeueAfter: retrySoon}, nil
	default:
		return ctrl.Result{}, err
	}
}

func (r *Reconciler) pass(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	before := &v1beta2.Kyma{}
	if err := r.Client.Get(ctx, req.NamespacedName, before); err != nil {
		if apierrors.IsNotFound(err) {
			r.Metrics.ForgetKyma(req.Namespace, req.Name)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	kyma := before.DeepCopy()
	if !kyma.DeletionTimestamp.IsZero() {
		return r.teardown(ctx, kyma, before)
	}
	if skipped(kyma) {
		return ctrl.Result{}, nil
	}
	if err := r.ensureMarks(ctx, kyma); err != nil {
		return ctrl.Result{}, err
	}
	world, retry, err := r.observe(ctx, kyma)
	if err != nil {
		return ctrl.Result{}, err
	}
	verdicts := module.Resolve(world)
	results, again := r.act(ctx, module.MakePlan(world, verdicts))
	kyma.Status = module.Rollup(world, verdicts, results)
	if err := r.patchStatus(ctx, kyma, before); err != nil {
		return ctrl.Result{}, err
	}
	if slices.ContainsFunc(verdicts, held) {
		again = soonest(again, retryHeld)
	}
	return ctrl.Result{RequeueAfter: soonest(retry, again)}, nil
}

// held tells that a module waits for a name that a Manifest has which is not the Kyma's.
func held(v module.Verdict) bool {
	return v.Manifest == nil &&
		(v.Reason == v1beta2.ReasonManifestConflict || (v.Kind == module.Waiting && v.Reason == v1beta2.ReasonModuleDeleting))
}

// ensureMarks adds what a Kyma needs before Manifests exist, and strips the finalizer of a controller that is gone.
func (r *Reconciler) ensureMarks(ctx context.Context, kyma *v1beta2.Kyma) error {
	before := kyma.DeepCopy()
	changed := controllerutil.AddFinalizer(kyma, v1beta2.FinalizerKyma)
	changed = controllerutil.RemoveFinalizer(kyma, v1beta2.FinalizerPurge) || changed
	if kyma.Labels[v1beta2.LabelManagedBy] != v1beta2.ManagedByLifecycleManager {
		metav1.SetMetaDataLabel(&kyma.ObjectMeta, v1beta2.LabelManagedBy, v1beta2.ManagedByLifecycleManager)
		changed = true
	}
	if !changed {
		return nil
	}
	status := kyma.Status
	if err := r.Client.Patch(ctx, kyma, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add finalizer and label to Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	kyma.Status = status
	return nil
}

// patchStatus writes the status when it differs from what was read, and tells people when the state moved.
func (r *Reconciler) patchStatus(ctx context.Context, kyma, before *v1beta2.Kyma) error {
	r.Metrics.ObserveKyma(kyma)
	if equality.Semantic.DeepEqual(before.Status, kyma.Status) {
		return nil
	}
	base := kyma.DeepCopy()
	base.Status = before.Status // so that nothing else is sent
	if err := r.Client.Status().Patch(ctx, kyma, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("patch status of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	if before.Status.State != kyma.Status.State {
		r.tell(ctx, kyma, before.Status.State)
	}
	return nil
}

func (r *Reconciler) tell(ctx context.Context, kyma *v1beta2.Kyma, from v1beta2.State) {
	reason, message := readyReason(kyma)
	logf.FromContext(ctx).Info("State changed", "from", from, "to", kyma.Status.State, "reason", reason, "message", message)
	kind := corev1.EventTypeNormal
	if kyma.Status.State == v1beta2.StateError || kyma.Status.State == v1beta2.StateWarning {
		kind = corev1.EventTypeWarning
	}
	note := conditions.Note(fmt.Sprintf("State is now %s: %s", kyma.Status.State, message))
	r.Events.Eventf(kyma, nil, kind, reason, "Reconcile", "%s", note)
}
