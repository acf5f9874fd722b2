package kyma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/mirror"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/internal/turn"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
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
	// Fleet connects to runtimes.
	Fleet Fleet
	// Mirror keeps what runtimes have to hold beside modules.
	Mirror *mirror.Mirror
	// Catalog keeps templates and releases in runtimes.
	Catalog Catalog
	// PullSecret is the Secret that runtimes pull images with; nil when they need none.
	PullSecret PullSecret
	// InstallsLocally says whether the Kymas of a namespace may have their modules in the hub itself; nil: those of none.
	InstallsLocally func(namespace string) bool
	// RuntimeVersions lets the users of a runtime pin exact versions of modules.
	RuntimeVersions bool
	// Windows say when upgrades with downtime may start; nil means that no policy does.
	Windows Windows
	// Signatures wakes Kymas when other rules for signatures come into force; nil: they never do.
	Signatures source.Source
	// Login wakes Kymas when the login of the registry changed; nil: it never does.
	Login source.Source
	// Requeues counts what is tried again, and why.
	Requeues Requeues
	// Shard says which Kymas are this replica's, Moves when that changes; nil: it never does.
	Shard shard.Owner
	Moves shard.Moves
	// Causes tells why the last look at a Kyma or a Manifest was made, and how urgent that was; shared with the Manifest controller.
	Causes *urgency.Causes
	// Turns bound how many passes work at a time while others wait for runtimes; nil: the options' workers do.
	Turns *turn.Turns
	// Events tells people what happened.
	Events events.EventRecorder
	// Restricted are the modules that only the Kymas may have which their release selects.
	Restricted []string
	// Metrics publishes states.
	Metrics Metrics
	// Now is the clock.
	Now func() metav1.Time

	// tracked says which connection feeds a Kyma, paces how often what its runtime asks for is taken over.
	tracked, paces sync.Map
	// worked are the Kymas of which something may be held; released says which UID of one was let go of, until the cache has seen it: what
	// ends in its runtime still tells, and must not have it connected again.
	worked, released sync.Map
	// unnamed are the modules that only the users of a runtime ask for, by Kyma, as long as the index does not find them.
	unnamed sync.Map
	// undone is what was deleted in their runtimes for Kymas that go.
	undone sync.Map
}

// Reconcile is the path of one Kyma.
//
//  1. Not there, not ours, or itself the Kyma of a runtime: nothing to do.
//  2. Being deleted: the next step of the teardown.
//  3. Label skip-reconciliation: left alone.
//  4. Finalizer and label are there before anything is made that would need them.
//  5. Meet the runtime: what is asked for there, and what it has to hold beside modules.
//  6. Observe, resolve, plan, act.
//  7. The runtime's Kyma gets the spec that counts.
//  8. One status write, skipped when nothing differs, and the same to the runtime's Kyma.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	ctx, end, standing := r.Shard.Begin(ctx, shard.Bucket(req.Namespace, req.Name))
	defer end()
	if standing != shard.Mine {
		r.hold(req.NamespacedName, standing)
		return ctrl.Result{}, nil
	}
	r.worked.Store(req.NamespacedName, struct{}{})
	result, err := r.pass(ctx, req)
	switch {
	case err == nil:
		return result, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctrl.Result{}, nil // the manager ends, or the Kyma is another replica's by now; what was cut off is no error
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
			r.forget(req.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if uid, ok := r.released.Load(req.NamespacedName); ok && uid == before.UID {
		return ctrl.Result{}, nil
	}
	kyma := before.DeepCopy()
	if !kyma.DeletionTimestamp.IsZero() {
		return r.teardown(ctx, kyma, before)
	}
	if skipped(kyma) || isCopy(kyma) {
		return ctrl.Result{}, nil
	}
	if err := r.ensureMarks(ctx, kyma); err != nil {
		return ctrl.Result{}, err
	}
	return r.converge(ctx, kyma, before)
}

// converge is steps 5 to 8.
func (r *Reconciler) converge(ctx context.Context, kyma, before *v1beta2.Kyma) (ctrl.Result, error) {
	side := r.meet(ctx, kyma)
	if side.Access != nil {
		r.requeued(side.retry, "sync_context_retrieval", !side.Access.Passing)
	}
	effective, known := side.effective()
	r.nameModules(kyma, effective)
	world, retry, err := r.observe(ctx, effective)
	if err != nil {
		return ctrl.Result{}, err
	}
	world.Unpinnable, world.Behind = r.unpinnable(kyma, effective), side.behind()
	world.Kyma = side.dated(effective)
	var verdicts []module.Verdict
	if known {
		verdicts = module.Resolve(world)
	} else {
		verdicts = module.Await(world, *side.Access)
	}
	results, again := r.act(ctx, module.MakePlan(world, verdicts))
	r.requeued(again, "manifest_reconciliation", true)
	r.keepCopy(ctx, side)
	kyma.Status = module.Fold(world, module.Rollup(world, verdicts, results), side.Side)
	r.Metrics.ObserveMandatory(kyma.Namespace, kyma.Name, module.MandatoryStates(world, verdicts, results))
	if err := r.putStatus(ctx, kyma, before); err != nil {
		return ctrl.Result{}, err
	}
	told := r.reflect(ctx, side, &kyma.Status)
	r.requeued(told, "status_sync_to_remote", true)
	again = soonest(again, told)
	if slices.ContainsFunc(verdicts, held) {
		again = soonest(again, retryHeld)
	}
	again = soonest(again, module.NextWake(verdicts, world.Now.Time))
	return ctrl.Result{RequeueAfter: soonest(soonest(retry, again), side.retry)}, nil
}

// requeued counts a pass that is to be followed by another one without an event.
func (r *Reconciler) requeued(pause time.Duration, reason string, unexpected bool) {
	if pause > 0 && r.Requeues != nil {
		r.Requeues.Requeued(reason, unexpected)
	}
}

// hold lets go of a Kyma that is another replica's by now.
func (r *Reconciler) hold(key types.NamespacedName, standing shard.Standing) {
	if _, worked := r.worked.Load(key); worked && standing == shard.Elsewhere {
		r.forget(key)
	}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.Metrics.ForgetKyma(key.Namespace, key.Name)
	if r.Causes != nil {
		r.Causes.Kymas.Forget(key)
	}
	r.untrack(key)
	r.paces.Delete(key)
	r.worked.Delete(key)
	r.released.Delete(key)
	r.undone.Delete(key)
	r.unnamed.Delete(key)
}

// tellRuntime tells people that a runtime has its Kyma.
func (r *Reconciler) tellRuntime(kyma *v1beta2.Kyma) {
	r.Events.Eventf(kyma, nil, corev1.EventTypeNormal, "RemoteInstallation", "Create", "The Kyma was created in the runtime")
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

// putStatus writes the status when it differs from what was read, and tells people when the state moved.
func (r *Reconciler) putStatus(ctx context.Context, kyma, before *v1beta2.Kyma) error {
	r.Metrics.ObserveKyma(kyma)
	if equality.Semantic.DeepEqual(before.Status, kyma.Status) {
		return nil
	}
	kyma.ManagedFields = nil // none in a request means that they are not spoken of
	if err := r.Client.Status().Update(ctx, kyma); err != nil {
		return fmt.Errorf("write status of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
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
