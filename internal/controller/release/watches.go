package release

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Setup registers the controller. A release wakes itself when its spec, deletion or finalizers changed, and when a Manifest of its
// module is gone or is none of it any more.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("release").
		WithOptions(options).
		For(&v1beta2.ModuleReleaseMeta{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, finalizersChanged))).
		Watches(&v1beta2.Manifest{}, handler.EnqueueRequestsFromMapFunc(releaseOf), builder.WithPredicates(gone)).
		Complete(r)
}

// finalizersChanged puts back a finalizer that somebody took away.
var finalizersChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return len(e.ObjectOld.GetFinalizers()) != len(e.ObjectNew.GetFinalizers())
}}

// gone lets pass what may end the waiting for a Manifest.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool { return len(releaseOf(context.Background(), e.ObjectNew)) == 0 },
}

// releaseOf is the release of a mandatory module's Manifest.
func releaseOf(_ context.Context, o client.Object) []reconcile.Request {
	labels := o.GetLabels()
	if labels[v1beta2.LabelMandatoryModule] != v1beta2.EnabledValue || labels[v1beta2.LabelModuleName] == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: labels[v1beta2.LabelModuleName]}}}
}
