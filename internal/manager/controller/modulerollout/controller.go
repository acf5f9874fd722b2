package modulerollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// retrySoon is for what passes by itself, such as a conflict with another writer.
const retrySoon = 100 * time.Millisecond

// Reconciler carries out ModuleRollouts.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Reader reads past the cache.
	Reader client.Reader
	// Indexes of the cache.
	Indexes Indexes
	// Digests knows the content of component versions.
	Digests Digests
	// Windows holds the maintenance policy; nil means that there is none.
	Windows Windows
	// Restricted are the modules that only Kymas selected by their release may have.
	Restricted []string
	// Events reports to users what happened.
	Events events.EventRecorder
	// Metrics publishes how far rollouts are.
	Metrics Metrics
	// Shard reports which rollouts this replica owns, by their own name; Moves reports when that changes, nil: it never does.
	Shard sharding.Owner
	Moves sharding.OwnershipChanges
	// Clock returns the time by the wall clock, and the time since a fixed moment by a clock that cannot be set.
	Clock func() (wall time.Time, monotonic time.Duration)

	counts counts
}

// Reconcile runs one pass of one rollout.
//
//  1. Not found, or another replica's: what is known of it is forgotten. Label skip-reconciliation: left alone, unless it is being deleted.
//  2. The finalizer is set.
//  3. What the channels offer is read, and the Kymas that changed are looked at.
//  4. For each channel the next step is decided; the status is written once, and not at all when nothing differs. Then the release is
//     marked: from there on every Kyma asks for permission.
//  5. One that is being deleted goes when no channel names a version that it has not let everyone have: the mark first, then the finalizer.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	key := req.NamespacedName
	ctx, end, standing := r.Shard.Begin(ctx, sharding.Bucket(key.Namespace, key.Name))
	defer end()
	switch standing {
	case sharding.Elsewhere:
		r.forget(key)
		return ctrl.Result{}, nil
	case sharding.Paused:
		return ctrl.Result{}, nil
	case sharding.Mine:
	}
	wake, err := r.pass(ctx, key)
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: wake}, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctrl.Result{}, nil // the manager ends, or the rollout is another replica's by now; what was cut off is no error
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return ctrl.Result{RequeueAfter: retrySoon}, nil
	default:
		return ctrl.Result{}, err
	}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	if r.counts.forget(key) {
		r.Metrics.ForgetRollout(key.Namespace, key.Name)
	}
}

// pass returns after which time to look again without an event; zero: never.
func (r *Reconciler) pass(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	w, err := r.read(ctx, key)
	if err != nil {
		return 0, err
	}
	if w.rollout == nil {
		r.forget(key)
		return 0, r.reportOrphan(ctx, w.release)
	}
	if w.rollout.DeletionTimestamp == nil && module.RolloutSuspended(w.rollout) {
		return 0, nil
	}
	known := r.counts.of(key) // before the Kymas are read, so that events from here on are noted
	wall, monotonic := r.Clock()
	known.begin(monotonic)
	if w.plan, err = rollout.Compile(&w.rollout.Spec); err == nil {
		known.horizon = w.plan.Horizon()
	}
	w.now, w.jumps = wall.Round(0), known.clock.Read(wall, monotonic, known.horizon)
	if err := r.holdRollout(ctx, w); err != nil {
		return 0, err
	}
	if err := r.readTargets(ctx, w); err != nil {
		return 0, err
	}
	if err := r.refresh(ctx, w, known); err != nil {
		return 0, err
	}
	wake, err := r.advance(ctx, w, known)
	switch {
	case err != nil:
		return 0, err
	case w.rollout.DeletionTimestamp == nil:
		return r.arm(ctx, w, wake)
	case r.mayGo(w):
		return 0, r.release(ctx, w)
	}
	return wake, nil
}

// read reads the rollout and its release; each is nil when there is none.
func (r *Reconciler) read(ctx context.Context, key types.NamespacedName) (*inputs, error) {
	w := &inputs{rollout: &v1beta2.ModuleRollout{}, release: &v1beta2.ModuleReleaseMeta{}}
	switch err := r.Client.Get(ctx, key, w.rollout); {
	case apierrors.IsNotFound(err):
		w.rollout = nil
	case err != nil:
		return nil, fmt.Errorf("read ModuleRollout %s: %w", key, err)
	}
	switch err := r.Client.Get(ctx, key, w.release); {
	case apierrors.IsNotFound(err):
		w.release = nil
	case err != nil:
		return nil, fmt.Errorf("read ModuleReleaseMeta %s: %w", key, err)
	}
	return w, nil
}

// holdRollout sets the finalizer, unless the rollout is being deleted, and finds out whether the release is marked.
func (r *Reconciler) holdRollout(ctx context.Context, w *inputs) error {
	w.armed = w.release != nil && w.release.Annotations[v1beta2.AnnotationRollout] == string(w.rollout.UID)
	if w.rollout.DeletionTimestamp != nil {
		return nil
	}
	before := w.rollout.DeepCopy()
	if !controllerutil.AddFinalizer(w.rollout, v1beta2.FinalizerRollout) {
		return nil
	}
	if err := r.Client.Patch(ctx, w.rollout, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add the finalizer to ModuleRollout %s: %w", client.ObjectKeyFromObject(w.rollout), err)
	}
	return nil
}

// arm sets the mark of the release, whose value is the rollout's UID. The status has what the channels offered before that: a channel that
// moves afterwards has a version that it came from, and does not look like one that a new rollout finds. So a plan that cannot be carried
// out, for which nothing is recorded, marks nothing. It returns when to look again.
func (r *Reconciler) arm(ctx context.Context, w *inputs, wake time.Duration) (time.Duration, error) {
	if w.armed || w.plan == nil || w.release == nil || w.release.DeletionTimestamp != nil {
		return wake, nil
	}
	if w.release.Annotations == nil {
		w.release.Annotations = map[string]string{}
	}
	w.release.Annotations[v1beta2.AnnotationRollout] = string(w.rollout.UID)
	if err := r.Client.Update(ctx, w.release); err != nil { // its Role has no patch
		return 0, fmt.Errorf("mark ModuleReleaseMeta %s: %w", client.ObjectKeyFromObject(w.release), err)
	}
	return retrySoon, nil
}

// mayGo reports whether a rollout that is being deleted holds nothing back any more: each channel names a version that it has let everyone
// have. One that never marked the release held nothing.
func (r *Reconciler) mayGo(w *inputs) bool {
	if !w.armed {
		return true
	}
	for name := range w.targets {
		if channel := channelOf(&w.rollout.Status, name); channel == nil || !rollout.Settled(channel) {
			return false
		}
	}
	return true
}

// release removes the mark and then the finalizer.
func (r *Reconciler) release(ctx context.Context, w *inputs) error {
	if w.armed {
		delete(w.release.Annotations, v1beta2.AnnotationRollout)
		if err := r.Client.Update(ctx, w.release); err != nil {
			return fmt.Errorf("remove the mark of ModuleReleaseMeta %s: %w", client.ObjectKeyFromObject(w.release), err)
		}
	}
	before := w.rollout.DeepCopy()
	if !controllerutil.RemoveFinalizer(w.rollout, v1beta2.FinalizerRollout) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, w.rollout, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer of ModuleRollout %s: %w", client.ObjectKeyFromObject(w.rollout), err)
	}
	return nil
}
