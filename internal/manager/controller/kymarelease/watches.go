package kymarelease

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
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Setup registers the controller:
//
//   - a release enqueues itself when it appears, never by its own status;
//   - a Kyma enqueues the releases that its spec and its status name, when one of the two changed;
//   - a template enqueues the releases that name it, and what is mandatory all of its namespace.
//
// Changes of Kymas and templates are collected for a moment, so that a fleet that moves is counted once a second.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options) error {
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("kymarelease").
		WithOptions(options).
		For(&v1beta2.KymaRelease{}, builder.WithPredicates(anotherSpec)).
		Watches(&v1beta2.Kyma{}, onChange(ofKyma)).
		Watches(&v1beta2.ModuleTemplate{}, onChange(r.ofTemplate), builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&v1beta2.ModuleReleaseMeta{}, onChange(r.ofMandatory), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(sharding.Source(r.Moves, r.moved))
	}
	return controlled.Complete(r)
}

// anotherSpec passes a release that appears, goes, or is another one than before: one that was deleted and made again while the watch was
// broken arrives as a change of the same generation.
var anotherSpec = predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() },
})

// finder returns the releases that an event concerns; before or now is nil for an object that appears or goes.
type finder func(ctx context.Context, before, now client.Object) []types.NamespacedName

// onChange enqueues what a finder returns. What is there when the manager starts enqueues nothing: every release is looked at then anyway.
func onChange(find finder) handler.EventHandler {
	enqueue := func(ctx context.Context, to queue, before, now client.Object) {
		for _, key := range find(ctx, before, now) {
			to.AddAfter(reconcile.Request{NamespacedName: key}, countPause)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, to queue) {
			if !e.IsInInitialList {
				enqueue(ctx, to, nil, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, to queue) { enqueue(ctx, to, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, to queue) { enqueue(ctx, to, e.Object, nil) },
	}
}

// ofKyma returns the releases that count a Kyma differently than before.
func ofKyma(_ context.Context, before, now client.Object) []types.NamespacedName {
	was, is := namesOf(before), namesOf(now)
	if was == is {
		return nil
	}
	namespace := ""
	var keys []types.NamespacedName
	for _, o := range []client.Object{before, now} {
		if o != nil {
			namespace = o.GetNamespace()
		}
	}
	for _, names := range [][2]string{was, is} {
		if names[0] != "" { // only those that name a release are counted
			keys = append(keys, types.NamespacedName{Namespace: namespace, Name: names[0]})
		}
	}
	return keys
}

// namesOf returns the releases that the spec and the status of a Kyma name.
func namesOf(o client.Object) [2]string {
	if kyma, ok := o.(*v1beta2.Kyma); ok && kyma != nil {
		return [2]string{kyma.Spec.Release, kyma.Status.Release}
	}
	return [2]string{}
}

// ofTemplate returns the releases that name a template.
func (r *Reconciler) ofTemplate(ctx context.Context, before, now client.Object) []types.NamespacedName {
	template := now
	if template == nil {
		template = before
	}
	return r.releases(ctx, template.GetNamespace(), func(release *v1beta2.KymaRelease) bool {
		for _, one := range release.Spec.Modules {
			if module.TemplateName(one.Name, one.Version) == template.GetName() {
				return true
			}
		}
		return false
	})
}

// ofMandatory returns all releases of a namespace when a mandatory module appears, goes or changes.
func (r *Reconciler) ofMandatory(ctx context.Context, before, now client.Object) []types.NamespacedName {
	for _, o := range []client.Object{before, now} {
		if meta, ok := o.(*v1beta2.ModuleReleaseMeta); ok && meta.Spec.Mandatory != nil {
			return r.releases(ctx, meta.Namespace, func(*v1beta2.KymaRelease) bool { return true })
		}
	}
	return nil
}

// releases returns the releases of a namespace that a function accepts, or of all namespaces if it is empty.
func (r *Reconciler) releases(ctx context.Context, namespace string, wanted func(*v1beta2.KymaRelease) bool) []types.NamespacedName {
	var list v1beta2.KymaReleaseList
	err := r.Client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return nil // the cache is shutting down; nothing is left to wake
	}
	var keys []types.NamespacedName
	for i := range list.Items {
		if wanted(&list.Items[i]) {
			keys = append(keys, client.ObjectKeyFromObject(&list.Items[i]))
		}
	}
	return keys
}

// moved enqueues the releases whose buckets changed hands.
func (r *Reconciler) moved(ctx context.Context, to queue, moved sharding.OwnershipChange) {
	for _, key := range r.releases(ctx, "", func(release *v1beta2.KymaRelease) bool {
		return moved.Either(sharding.Bucket(release.Namespace, release.Name))
	}) {
		to.Add(reconcile.Request{NamespacedName: key})
	}
}
