package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/progress"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Reconciler installs Manifests and keeps them installed.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Reader reads past the cache: inventory shards are Secrets that the cache does not hold.
	Reader client.Reader
	// Clusters connects to clusters.
	Clusters Clusters
	// Content turns sources into objects.
	Content Content
	// PullSecret is the name of the Secret that workloads pull their images with; empty when they need none.
	PullSecret string
	// HubSecrets give module deployer its data; nil: they are read on demand, and not watched.
	HubSecrets HubSecrets
	// InstallsLocally reports whether the Manifests of a namespace may be installed into the hub itself, as a ServiceAccount of that namespace
	// or, with an empty name, as one that may do everything; nil: none may.
	InstallsLocally func(namespace, account string) bool
	// Login reports changes of the operator's own credentials for registries; nil when it has none.
	Login Changes
	// Signatures enqueues Manifests when other rules for signatures take effect; nil: they never do.
	Signatures source.Source
	// Shard reports which Manifests this replica owns: those of its Kymas. Moves reports when that changes; nil: it never does.
	Shard sharding.Owner
	Moves sharding.OwnershipChanges
	// Priorities records why a Kyma or a Manifest was last reconciled, and with which priority; shared with the Kyma controller.
	Priorities *priority.LastPriorities
	// Progress records what was observed of upgrades, for the Kyma controller, which judges none that it does not find here.
	Progress *progress.Registry
	// Phases measures installations and upgrades; shared with the Kyma controller. Nil: they are not measured.
	Phases *phases.Tracker
	// Traces records passes; shared with the Kyma controller. Nil: they are not recorded.
	Traces *tracing.Traces
	// Slots bounds how many passes work at a time while others wait for runtimes; nil: only the number of workers does.
	Slots *workerslot.Pool
	// Events records what happened, for users.
	Events events.EventRecorder
	// Backoff spaces the retries of what failed.
	Backoff *flowcontrol.Backoff
	// Now returns the clock.
	Now func() metav1.Time
	// Adoptions bounds the writes for Manifests without a history; nil: they are written at once.
	Adoptions flowcontrol.PassiveRateLimiter
	// Requeues counts reconciles without an event; may be nil.
	Requeues Requeues
	// Verdicts counts the verdicts of the signature policy; may be nil.
	Verdicts Verdicts
	// Repairs counts what other clients had put wrong in runtimes; may be nil.
	Repairs Repairs

	shards    shardCache
	conflicts conflictBackoffs
	probes    probes
	moved     movedReferences
	// granted are the rights that accounts were found to have.
	granted grantedRights
	// defined are the kinds of the definitions of Manifests that are being deleted.
	defined definedKinds
	// audited receives Manifests whose status lacks what is known of their references.
	audited chan event.GenericEvent
	// tracked holds the tracking of each Manifest; released the UID of a Manifest whose finalizers were removed, until the cache has
	// seen that: its objects are still being deleted, and an event of one of them must not start anything again.
	tracked, released sync.Map
}

// Reconcile runs one pass of one Manifest.
//
//  1. Not found or not ours: nothing to do.
//  2. Label skip-reconciliation: left alone, also when it is being deleted.
//  3. Being deleted: custom resources, then everything else in the safe order, then the finalizers.
//  4. Unmanaged: its objects lose the mark and stay, the Manifest is deleted.
//  5. Otherwise: install what is missing or differs, check the health, report.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	result, err := r.pass(ctx, req)
	switch {
	case err == nil:
		return result, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctrl.Result{}, nil // the manager ends; what was cut off is no error
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return ctrl.Result{RequeueAfter: time.Second}, nil
	default:
		return ctrl.Result{}, err
	}
}

func (r *Reconciler) pass(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	manifest := &v1beta2.Manifest{}
	if err := r.Client.Get(ctx, req.NamespacedName, manifest); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		r.requeued(requeueRetrieval, true)
		return ctrl.Result{}, err
	}
	if uid, ok := r.released.Load(req.NamespacedName); ok && uid == manifest.UID && !heldByOthers(manifest) {
		return ctrl.Result{}, nil
	}
	if module.ManifestSuspended(manifest) {
		r.Progress.Interrupt(req.NamespacedName, r.Now().Time)
		return ctrl.Result{}, nil
	}
	ctx, end, standing := r.Shard.Begin(ctx, Bucket(manifest))
	defer end()
	if standing == sharding.Elsewhere {
		r.forget(req.NamespacedName)
	}
	if standing != sharding.Mine {
		return ctrl.Result{}, nil
	}
	w := newScope(manifest, r.Now())
	ctx, trace := r.Traces.BeginManifest(ctx, manifest)
	ctx = r.Phases.Begin(ctx, manifest)
	result, err := r.reconcile(ctx, w)
	r.noteProgress(ctx, w)
	trace.End(w.manifest.Status.State, err)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctrl.Result{}, nil // the manager ends, or the Manifest is another replica's by now; what was cut off is no error
	}
	return result, err
}

// Bucket returns the bucket of a Manifest: that of its Kyma, or for a stand-alone Manifest that of its own name.
func Bucket(manifest client.Object) int {
	return sharding.Bucket(manifest.GetNamespace(), cmp.Or(manifest.GetLabels()[v1beta2.LabelKymaName], manifest.GetName()))
}

func (r *Reconciler) reconcile(ctx context.Context, w *scope) (ctrl.Result, error) {
	if w.manifest.Status.ObservedGeneration != w.generation {
		r.Backoff.Reset(w.key.String()) // the pauses were earned by another spec
	}
	deleting := !w.manifest.DeletionTimestamp.IsZero()
	if deleting && !slices.ContainsFunc(w.manifest.Finalizers, isOurs) {
		return ctrl.Result{}, r.freeHeld(ctx, w.manifest)
	}
	var found passResult
	var err error
	step := requeueObjects
	switch {
	case w.manifest.Annotations[v1beta2.AnnotationIsUnmanaged] == v1beta2.EnabledValue:
		step = requeueRelease
		found, err = r.release(ctx, w)
	case deleting:
		step = requeueRemoval
		found, err = r.remove(ctx, w)
	default:
		if err := r.ensureFinalizers(ctx, w); err != nil {
			r.requeued(requeueFinalizer, true)
			return ctrl.Result{}, err
		}
		found, err = r.install(ctx, w)
	}
	if err != nil {
		r.requeued(step, true)
	}
	if err != nil || found.gone {
		return ctrl.Result{RequeueAfter: found.retry}, err
	}
	// Calls fail in many ways after the shutdown began, and none of the failures says anything about the module.
	found.cut = found.cut || errors.Is(ctx.Err(), context.Canceled)
	if !found.cut {
		w.report(found)
	}
	if !deleting && !found.cut {
		found.retry = cmp.Or(found.retry, r.updateSignature(ctx, w))
		r.counted(w.key, w.manifest.Status.Signature)
	}
	adoption := r.adoptRevision(w, found)
	record := r.recordObserved(ctx, w, found)
	ctx, cancel := statusWriteContext(ctx)
	defer cancel()
	if err := r.flush(ctx, w); err != nil {
		r.requeued(requeueStatus, true)
		return ctrl.Result{}, err
	}
	w.confirmed = !found.cut && (!w.countsModuleCR() || w.knowsModuleCR())
	pause := r.pause(w.key, found)
	if pause > 0 {
		r.requeued(requeueReason(found), false)
	} else if adoption > 0 {
		r.requeued(requeueStatus, false)
	}
	return ctrl.Result{RequeueAfter: soonest(cmp.Or(pause, adoption), record, w.unsettled(found))}, nil
}

// statusWriteContext gives a pass whose time is up the time to record what it did: otherwise the next pass would have to find out again.
func statusWriteContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// isOurs reports whether a finalizer, also one of upstream's, is removed when everything is gone.
func isOurs(finalizer string) bool {
	return finalizer == v1beta2.FinalizerManifest || finalizer == v1beta2.FinalizerLabelRemoval || finalizer == v1beta2.FinalizerModuleCR
}

// ensureFinalizers protects a stand-alone Manifest; those of a Kyma are created with their finalizers.
func (r *Reconciler) ensureFinalizers(ctx context.Context, w *scope) error {
	if controllerutil.ContainsFinalizer(w.manifest, v1beta2.FinalizerManifest) {
		return nil
	}
	before, status := w.manifest.DeepCopy(), w.manifest.Status
	controllerutil.AddFinalizer(w.manifest, v1beta2.FinalizerManifest)
	if err := r.Client.Patch(ctx, w.manifest, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add the finalizer to Manifest %s: %w", w.key, err)
	}
	w.manifest.Status = status
	w.before = w.manifest.DeepCopy()
	return nil
}

// dropFinalizers releases the Manifest. It removes upstream's finalizers with ours; those of others as well where the cluster is gone.
func (r *Reconciler) dropFinalizers(ctx context.Context, w *scope) error {
	others := slices.DeleteFunc(slices.Clone(w.manifest.Finalizers), isOurs)
	if len(others) > 0 && r.clusterGone(ctx, w.manifest) {
		others = nil
	}
	if len(others) > 0 {
		w.report(passResult{
			state: v1beta2.StateDeleting, reason: v1beta2.ReasonForeignFinalizers,
			message: fmt.Sprintf("waiting as other finalizers are present: [%s]", strings.Join(others, " ")),
		})
		if err := r.flush(ctx, w); err != nil {
			return err
		}
	}
	before, uid := w.manifest.DeepCopy(), w.manifest.UID
	w.manifest.Finalizers = others
	err := r.Client.Patch(ctx, w.manifest, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizers of Manifest %s: %w", w.key, err)
	}
	r.untrack(w.key)
	r.released.Store(w.key, uid)
	return nil
}

// pause returns when to come back without an event: by back-off for what may recover by itself, never for what is in order.
func (r *Reconciler) pause(key types.NamespacedName, found passResult) time.Duration {
	if found.retry == 0 {
		r.Backoff.Reset(key.String())
		return 0
	}
	// Only a pass that runs when the pause has ended extends it: a transient fault has many events.
	if now := r.Backoff.Clock.Now(); !r.Backoff.IsInBackOffSinceUpdate(key.String(), now) {
		r.Backoff.Next(key.String(), now)
	}
	return max(found.retry, r.Backoff.Get(key.String()))
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.untrack(key)
	r.released.Delete(key)
	r.Backoff.DeleteEntry(key.String())
	r.shards.forget(key)
	r.defined.forget(key)
	r.granted.forget(key)
	r.counted(key, nil)
	r.Progress.Forget(key)
	r.Phases.Forget(key)
	r.Traces.ForgetManifest(key)
	if r.Priorities != nil {
		r.Priorities.Manifests.Forget(key)
	}
}
