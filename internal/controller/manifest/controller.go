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
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/internal/turn"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// Reconciler installs Manifests and keeps them whole.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Reader reads past the cache: inventory shards are Secrets that the cache does not hold.
	Reader client.Reader
	// Fleet connects to clusters.
	Fleet Fleet
	// Content turns sources into objects.
	Content Content
	// PullSecret is the name of the Secret that workloads pull their images with; empty when they need none.
	PullSecret string
	// HubSecrets give module deployer its data; nil: they are read when they are needed, and not watched.
	HubSecrets HubSecrets
	// InstallsLocally says whether what stands in a namespace may be installed into the hub itself; nil: nothing may.
	InstallsLocally func(namespace string) bool
	// Login tells that the operator's own login for registries changed; nil when it has none.
	Login Changes
	// Signatures wakes Manifests when other rules for signatures come into force; nil: they never do.
	Signatures source.Source
	// Shard says which Manifests are this replica's: those of its Kymas. Moves says when that changes; nil: it never does.
	Shard shard.Owner
	Moves shard.Moves
	// Causes tells why the last look at a Kyma or a Manifest was made, and how urgent that was; shared with the Kyma controller.
	Causes *urgency.Causes
	// Turns bound how many passes work at a time while others wait for runtimes; nil: the options' workers do.
	Turns *turn.Turns
	// Events tells people what happened.
	Events events.EventRecorder
	// Backoff spaces the retries of what failed.
	Backoff *flowcontrol.Backoff
	// Now is the clock.
	Now func() metav1.Time
	// Requeues counts what comes back without an event; may be nil.
	Requeues Requeues
	// Verdicts counts what the policy for signatures says of Manifests; may be nil.
	Verdicts Verdicts

	shards shardCache
	fights fights
	probes probes
	moved  movedReferences
	// defined are the kinds of the definitions of Manifests that are being deleted.
	defined definedKinds
	// audited are Manifests whose status does not tell what is known of their references.
	audited chan event.GenericEvent
	// tracked says which connection feeds a Manifest, by its key; released which UID of it was let go of, until the cache has seen it:
	// its objects are still deleting, and an event of one of them must not start anything again.
	tracked, released sync.Map
}

// Reconcile is the path of one Manifest.
//
//  1. Not there or not ours: nothing to do.
//  2. Label skip-reconciliation: left alone, also when it is being deleted.
//  3. Being deleted: custom resources, then everything else in the safe order, then the finalizers.
//  4. Unmanaged: its objects lose the mark and stay, the Manifest goes.
//  5. Otherwise: install what is missing or differs, look at the health, report.
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
	if manifest.Labels[v1beta2.LabelSkipReconciliation] == v1beta2.EnabledValue {
		return ctrl.Result{}, nil
	}
	pass, end, standing := r.Shard.Begin(ctx, Bucket(manifest))
	defer end()
	if standing == shard.Elsewhere {
		r.forget(req.NamespacedName)
	}
	if standing != shard.Mine {
		return ctrl.Result{}, nil
	}
	result, err := r.reconcile(pass, newWork(manifest, r.Now()))
	if errors.Is(pass.Err(), context.Canceled) {
		return ctrl.Result{}, nil // the manager ends, or the Manifest is another replica's by now; what was cut off is no error
	}
	return result, err
}

// Bucket is that of a Manifest: the one of its Kyma. A Manifest that stands alone counts by its own name.
func Bucket(manifest client.Object) int {
	return shard.Bucket(manifest.GetNamespace(), cmp.Or(manifest.GetLabels()[v1beta2.LabelKymaName], manifest.GetName()))
}

func (r *Reconciler) reconcile(ctx context.Context, w *work) (ctrl.Result, error) {
	if w.manifest.Status.ObservedGeneration != w.generation {
		r.Backoff.Reset(w.key.String()) // the pauses were earned by another spec
	}
	deleting := !w.manifest.DeletionTimestamp.IsZero()
	if deleting && !slices.ContainsFunc(w.manifest.Finalizers, isOurs) {
		return ctrl.Result{}, r.freeHeld(ctx, w.manifest)
	}
	var found finding
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
	// What was called after the end was asked for failed in many ways, and none of them says anything about the module.
	found.cut = found.cut || errors.Is(ctx.Err(), context.Canceled)
	if !found.cut {
		w.report(found)
	}
	if !deleting && !found.cut {
		found.retry = cmp.Or(found.retry, r.judge(ctx, w))
		r.counted(w.key, w.manifest.Status.Signature)
	}
	ctx, cancel := lastWords(ctx)
	defer cancel()
	if err := r.flush(ctx, w); err != nil {
		r.requeued(requeueStatus, true)
		return ctrl.Result{}, err
	}
	pause := r.pause(w.key, found)
	if pause > 0 {
		r.requeued(requeueReason(found), false)
	}
	return ctrl.Result{RequeueAfter: pause}, nil
}

// lastWords gives a pass whose time is up the time to record what it did: without that the next one would have to find out again.
func lastWords(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// isOurs tells finalizers that are removed when everything is gone, upstream's among them.
func isOurs(finalizer string) bool {
	return finalizer == v1beta2.FinalizerManifest || finalizer == v1beta2.FinalizerLabelRemoval || finalizer == v1beta2.FinalizerModuleCR
}

// ensureFinalizers protects a stand-alone Manifest; those of a Kyma are created with their finalizers.
func (r *Reconciler) ensureFinalizers(ctx context.Context, w *work) error {
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

// dropFinalizers lets the Manifest go. Upstream's finalizers go with ours; those of others as well where its cluster is gone.
func (r *Reconciler) dropFinalizers(ctx context.Context, w *work) error {
	others := slices.DeleteFunc(slices.Clone(w.manifest.Finalizers), isOurs)
	if len(others) > 0 && r.clusterGone(ctx, w.manifest) {
		others = nil
	}
	if len(others) > 0 {
		w.report(finding{
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

// pause says when to come back without an event: by back-off for what may heal by itself, never for what is in order.
func (r *Reconciler) pause(key types.NamespacedName, found finding) time.Duration {
	if found.retry == 0 {
		r.Backoff.Reset(key.String())
		return 0
	}
	// Only a pass that comes when the pause is over makes it longer: a fault of a moment has many events.
	if now := r.Backoff.Clock.Now(); !r.Backoff.IsInBackOffSinceUpdate(key.String(), now) {
		r.Backoff.Next(key.String(), now)
	}
	return max(found.retry, r.Backoff.Get(key.String()))
}

// track asks for the events of what the Manifest has or wants.
func (r *Reconciler) track(w *work) {
	old, _ := r.tracked.Swap(w.key, w.runtime)
	if before, ok := old.(Runtime); ok && before != w.runtime {
		before.Untrack(w.key)
	}
	w.runtime.Track(w.key, w.interests())
}

func (r *Reconciler) untrack(key types.NamespacedName) {
	old, _ := r.tracked.LoadAndDelete(key)
	if before, ok := old.(Runtime); ok {
		before.Untrack(key)
	}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.untrack(key)
	r.released.Delete(key)
	r.Backoff.DeleteEntry(key.String())
	r.shards.forget(key)
	r.defined.forget(key)
	r.counted(key, nil)
	if r.Causes != nil {
		r.Causes.Manifests.Forget(key)
	}
}
