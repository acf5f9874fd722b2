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
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/progress"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Reconciler brings Kymas to their desired state.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Reader reads past the cache.
	Reader client.Reader
	// Components reads component versions.
	Components Components
	// Clusters connects to runtimes.
	Clusters Clusters
	// Syncer keeps the objects that runtimes need beside modules.
	Syncer *remotesync.Syncer
	// Catalog keeps templates and releases in runtimes.
	Catalog Catalog
	// PullSecret is the Secret that runtimes pull images with; nil when they need none.
	PullSecret PullSecret
	// InstallsLocally reports whether the Kymas of a namespace may install their modules into the hub itself, as a ServiceAccount of that
	// namespace or, with an empty name, as one that may do everything; nil: no namespace's may.
	InstallsLocally func(namespace, account string) bool
	// HubValues are the objects of the hub that entries take values from; nil: there are none.
	HubValues HubValues
	// HubID is the identity of this hub, by which it claims runtimes; empty: it claims none.
	HubID string
	// RuntimeVersions allows the users of a runtime to pin exact versions of modules.
	RuntimeVersions bool
	// Rollouts is true when the hub has ModuleRollouts, and the manager may read them. Without them a release that is marked for one gives no
	// Kyma another version.
	Rollouts bool
	// Releases is true when the hub has KymaReleases, and the manager may read them. Without them a Kyma that names one keeps what runs.
	Releases bool
	// Windows holds the maintenance policy: when upgrades with downtime may start; nil means that there is no policy.
	Windows Windows
	// Approvals is the policy for consent; nil means that there is none.
	Approvals Approvals
	// Rights finds out what versions that wait for consent ask for.
	Rights Rights
	// Plans tells what new Manifests will install; nil: their first passes find that out.
	Plans Plans
	// Signatures enqueues Kymas when other rules for signatures take effect; nil: they never do.
	Signatures source.Source
	// Login enqueues Kymas when the registry's credentials change; nil: they never do.
	Login source.Source
	// Requeues counts what is tried again, and why.
	Requeues Requeues
	// Shard reports which Kymas this replica owns, Moves when that changes; nil: it never does.
	Shard sharding.Owner
	Moves sharding.OwnershipChanges
	// Priorities records why a Kyma or a Manifest was last reconciled, and with which priority; shared with the Manifest controller.
	Priorities *priority.LastPriorities
	// Progress says for how long upgrades were observed; shared with the Manifest controller. Nil: no upgrade goes back by itself.
	Progress *progress.Registry
	// Phases measures installations and upgrades; shared with the Manifest controller. Nil: they are not measured.
	Phases *phases.Tracker
	// Traces records passes; shared with the Manifest controller. Nil: they are not recorded.
	Traces *tracing.Traces
	// Slots bounds how many passes work at a time while others wait for runtimes; nil: only the number of workers does.
	Slots *workerslot.Pool
	// Events records what happened, for users.
	Events events.EventRecorder
	// Restricted are the modules that only Kymas selected by their release may have.
	Restricted []string
	// Metrics publishes states.
	Metrics Metrics
	// Now returns the clock.
	Now func() metav1.Time

	// required holds the connection that tells each Kyma what its modules require of the cluster, while they wait for that.
	required sync.Map
	// tracked holds the connection that feeds each Kyma; paces limits how often changes of its runtime's spec are accepted,
	// claims how often its runtime is claimed.
	tracked, paces, claims sync.Map
	// written is when the status of each Kyma was written last.
	written sync.Map
	// worked are the Kymas that this replica may hold state of. released holds the UID of a Kyma whose finalizers were removed, until the
	// cache has seen that: events of what ends in its runtime still arrive, and must not connect it again.
	worked, released sync.Map
	// unnamed are the modules that only the users of a runtime request, by Kyma, as long as the index does not find them.
	unnamed sync.Map
	// consents holds what the entries of runtimes said last about consent, and limits how often that changes.
	consents sync.Map
	// deletions records what was deleted in their runtimes for Kymas that are being deleted.
	deletions sync.Map
}

// Reconcile runs one pass of one Kyma.
//
//  1. Not found, not ours, or itself the Kyma of a runtime: nothing to do.
//  2. Being deleted: the next step of the teardown.
//  3. Label skip-reconciliation: left alone.
//  4. Finalizer and label are set before anything is created that needs them.
//  5. Prepare the runtime: read its spec, and sync the objects that it needs beside modules.
//  6. Observe, resolve, plan, act.
//  7. Write the spec in force to the runtime's Kyma.
//  8. One status write, skipped when nothing differs, and the same to the runtime's Kyma.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	ctx, end, standing := r.Shard.Begin(ctx, sharding.Bucket(req.Namespace, req.Name))
	defer end()
	if standing != sharding.Mine {
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
		// Another client wrote meanwhile; the event of that write may already be in the queue, but need not.
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
	ctx, trace := r.Traces.BeginKyma(ctx, kyma)
	result, err := r.step(ctx, req, kyma, before)
	trace.End(kyma.Status.State, err)
	return result, err
}

// step runs the pass of a Kyma that is there.
func (r *Reconciler) step(ctx context.Context, req ctrl.Request, kyma, before *v1beta2.Kyma) (ctrl.Result, error) {
	if !kyma.DeletionTimestamp.IsZero() {
		r.unrequire(req.NamespacedName) // it may last for days, and nothing new is installed
		return r.teardown(ctx, kyma, before)
	}
	if module.KymaSuspended(kyma) || isOwnCopy(kyma) {
		r.unrequire(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err := r.ensureMarks(ctx, kyma); err != nil {
		return ctrl.Result{}, err
	}
	return r.converge(ctx, kyma, before)
}

// converge runs steps 5 to 8.
func (r *Reconciler) converge(ctx context.Context, kyma, before *v1beta2.Kyma) (ctrl.Result, error) {
	side := r.prepareRuntime(ctx, kyma)
	if side.Access != nil {
		r.requeued(side.retry, "sync_context_retrieval", !side.Access.Passing)
	}
	effective, known := side.effective()
	r.nameModules(kyma, effective)
	world, retry, err := r.observe(ctx, effective, side.refusedValues())
	if err != nil {
		return ctrl.Result{}, err
	}
	world.Unpinnable, world.Behind = r.unpinnable(kyma, effective), side.behind()
	retry = soonest(retry, r.observeConsent(ctx, &world, side))
	world.Kyma = side.withObservedGeneration(effective)
	r.readCluster(ctx, side, &world)
	var verdicts []module.Verdict
	if known {
		verdicts = module.Resolve(world)
	} else {
		verdicts = module.HoldAll(world, *side.Access)
	}
	results, again := r.act(ctx, module.MakePlan(world, verdicts))
	r.Phases.Wait(client.ObjectKeyFromObject(kyma), awaitingWindow(verdicts))
	r.requeued(again, "manifest_reconciliation", true)
	r.syncRuntimeKyma(ctx, side)
	kyma.Status = module.MergeRemoteStatus(world, module.Rollup(world, verdicts, results), side.RemoteState)
	r.Metrics.ObserveMandatory(kyma.Namespace, kyma.Name, module.MandatoryStates(world, verdicts, results))
	if result, hold := r.holdStatus(before, kyma, world.Now.Time); hold {
		return result, nil
	}
	if err := r.putStatus(ctx, kyma, before); err != nil {
		return ctrl.Result{}, err
	}
	r.recordConsent(kyma, before, verdicts)
	told := r.syncRuntimeStatus(ctx, side, &kyma.Status)
	r.requeued(told, "status_sync_to_remote", true)
	again = soonest(again, told)
	if slices.ContainsFunc(verdicts, waitsForName) {
		again = soonest(again, retryHeld)
	}
	again = soonest(again, module.NextWake(verdicts, world.Now.Time))
	return ctrl.Result{RequeueAfter: soonest(soonest(retry, again), side.retry)}, nil
}

// requeued counts a pass that must be followed by another one without an event.
func (r *Reconciler) requeued(pause time.Duration, reason string, unexpected bool) {
	if pause > 0 && r.Requeues != nil {
		r.Requeues.Requeued(reason, unexpected)
	}
}

// hold forgets a Kyma that another replica owns now.
func (r *Reconciler) hold(key types.NamespacedName, standing sharding.Ownership) {
	if _, worked := r.worked.Load(key); worked && standing == sharding.Elsewhere {
		r.forget(key)
	}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.Metrics.ForgetKyma(key.Namespace, key.Name)
	if r.Priorities != nil {
		r.Priorities.Kymas.Forget(key)
	}
	r.Phases.Wait(key, nil)
	r.Traces.ForgetKyma(key)
	r.untrack(key)
	r.unrequire(key)
	r.paces.Delete(key)
	r.claims.Delete(key)
	r.consents.Delete(key)
	r.worked.Delete(key)
	r.released.Delete(key)
	r.deletions.Delete(key)
	r.unnamed.Delete(key)
	r.written.Delete(key)
}

// recordRuntimeKymaCreated records an event that the runtime has its Kyma.
func (r *Reconciler) recordRuntimeKymaCreated(kyma *v1beta2.Kyma) {
	r.Events.Eventf(kyma, nil, corev1.EventTypeNormal, "RemoteInstallation", "Create", "The Kyma was created in the runtime")
}

// waitsForName reports whether a module waits for a name that a Manifest not of this Kyma has.
func waitsForName(v module.Verdict) bool {
	return v.Manifest == nil &&
		(v.Reason == v1beta2.ReasonManifestConflict || (v.Kind == module.Waiting && v.Reason == v1beta2.ReasonModuleDeleting))
}

// ensureMarks adds what a Kyma needs before Manifests exist, and removes the finalizer of a controller that no longer exists.
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

// putStatus writes the status when it differs from what was read, and reports a change of the state.
func (r *Reconciler) putStatus(ctx context.Context, kyma, before *v1beta2.Kyma) error {
	r.Metrics.ObserveKyma(kyma)
	if equality.Semantic.DeepEqual(before.Status, kyma.Status) {
		return nil
	}
	kyma.ManagedFields = nil // none in a request means that they are not spoken of
	if err := r.Client.Status().Update(ctx, kyma); err != nil {
		return fmt.Errorf("write status of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	r.written.Store(client.ObjectKeyFromObject(kyma), r.Now().Time)
	if before.Status.State != kyma.Status.State {
		r.recordTransition(ctx, kyma, before.Status.State)
	}
	return nil
}

func (r *Reconciler) recordTransition(ctx context.Context, kyma *v1beta2.Kyma, from v1beta2.State) {
	reason, message := readyReason(kyma)
	logf.FromContext(ctx).Info("State changed", "from", from, "to", kyma.Status.State, "reason", reason, "message", message)
	if from == "" && kyma.Status.State == v1beta2.StateProcessing {
		return // it begins, which its creation told already
	}
	kind := corev1.EventTypeNormal
	if kyma.Status.State == v1beta2.StateError || kyma.Status.State == v1beta2.StateWarning {
		kind = corev1.EventTypeWarning
	}
	note := conditions.Note(fmt.Sprintf("State is now %s: %s", kyma.Status.State, message))
	r.Events.Eventf(kyma, nil, kind, reason, "Reconcile", "%s", note)
}
