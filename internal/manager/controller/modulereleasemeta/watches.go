package modulereleasemeta

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

// Setup registers the controller. A release enqueues itself when its spec, deletion or finalizers changed, and when a Manifest of its
// module is gone or no longer belongs to it.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options) error {
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("release").
		WithOptions(options).
		For(&v1beta2.ModuleReleaseMeta{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, finalizersChanged))).
		Watches(&v1beta2.Manifest{}, handler.EnqueueRequestsFromMapFunc(releaseOf), builder.WithPredicates(gone))
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(sharding.Source(r.Moves, r.moved))
	}
	return controlled.Complete(r)
}

// moved enqueues the releases that came from another replica.
func (r *Reconciler) moved(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], moved sharding.OwnershipChange,
) {
	releases := &v1beta2.ModuleReleaseMetaList{}
	if err := r.Client.List(ctx, releases, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return // the cache is shutting down; nothing is left to wake
	}
	for i := range releases.Items {
		if key := client.ObjectKeyFromObject(&releases.Items[i]); moved.Gained[sharding.Bucket(key.Namespace, key.Name)] {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
}

// finalizersChanged passes updates that removed a finalizer, so that it is restored.
var finalizersChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return len(e.ObjectOld.GetFinalizers()) != len(e.ObjectNew.GetFinalizers())
}}

// gone passes events that may end the waiting for a Manifest.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool { return len(releaseOf(context.Background(), e.ObjectNew)) == 0 },
}

// releaseOf returns the release of a mandatory module's Manifest.
func releaseOf(_ context.Context, o client.Object) []reconcile.Request {
	labels := o.GetLabels()
	if labels[v1beta2.LabelMandatoryModule] != v1beta2.EnabledValue || labels[v1beta2.LabelModuleName] == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: labels[v1beta2.LabelModuleName]}}}
}
