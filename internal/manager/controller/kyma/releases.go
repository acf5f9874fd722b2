package kyma

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// indexRelease finds the Kymas that name a KymaRelease.
const indexRelease = "release"

// releaseNamed returns the release that a Kyma names, if any.
func releaseNamed(o client.Object) []string {
	if kyma, ok := o.(*v1beta2.Kyma); ok && kyma.Spec.Release != "" {
		return []string{kyma.Spec.Release}
	}
	return nil
}

// readRelease adds the KymaRelease that the Kyma names. Without the kind on the hub there is none, and the modules that follow it keep what
// runs.
func (r *Reconciler) readRelease(ctx context.Context, world *module.Snapshot) error {
	if !r.Releases || world.Kyma.Spec.Release == "" {
		return nil
	}
	release := &v1beta2.KymaRelease{}
	found, err := r.get(ctx, client.ObjectKey{Namespace: world.Kyma.Namespace, Name: world.Kyma.Spec.Release}, release)
	if found {
		world.Release = release
	}
	return err
}

// releaseEvents enqueues the Kymas that name a KymaRelease which appears or goes, spread over delay where that is set. Its status enqueues
// none, and its spec cannot change: but one that was deleted and made again in a moment may arrive as a change. What is there when the
// manager starts enqueues none, since every Kyma is reconciled then anyway.
func (r *Reconciler) releaseEvents(delay time.Duration) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(ctx context.Context, q queue, release client.Object) {
		all := func(*v1beta2.Kyma) bool { return true }
		of := client.MatchingFields{indexRelease: release.GetName()}
		for _, request := range r.kymasIn(ctx, all, client.InNamespace(release.GetNamespace()), of) {
			var pause time.Duration
			if delay > 0 {
				pause = rand.N(delay) //nolint:gosec // spreads load, guards nothing
			}
			priority.AddAfter(q, priority.Later, pause, request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				enqueue(ctx, q, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				enqueue(ctx, q, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { enqueue(ctx, q, e.Object) },
	}
}
