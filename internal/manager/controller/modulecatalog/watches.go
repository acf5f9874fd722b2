package modulecatalog

import (
	"context"

	corev1 "k8s.io/api/core/v1"
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
	"github.com/kyma-project/lifecycle-manager/internal/manager/predicates"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

// Setup registers the controller:
//
//   - a Kyma that is new, relabelled or deleted is reconciled now; those that exist when the manager starts wait for the rate limit;
//   - its access Secret, its runtime and Wake enqueue it now;
//   - a release or a template that changes makes all remote Kymas of its namespace wait for the rate limit.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options) error {
	changed := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{},
		predicate.AnnotationChangedPredicate{}, predicates.DeletionChanged))
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("catalog").
		WithOptions(r.Slots.Configure(options, nil)).
		Watches(&v1beta2.Kyma{}, r.kymas(), builder.WithPredicates(predicate.Or(
			predicate.LabelChangedPredicate{}, predicates.DeletionChanged, met))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.throughSecret), builder.WithPredicates(predicates.AccessChanged)).
		Watches(&v1beta2.ModuleReleaseMeta{}, r.offered(), changed).
		Watches(&v1beta2.ModuleTemplate{}, r.offered(), changed).
		WatchesRawSource(r.Clusters.Source()).
		WatchesRawSource(r.waiting.source()).
		WatchesRawSource(r.woken.source())
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(sharding.Source(r.Moves, r.moved))
	}
	return controlled.Complete(r.Slots.Wrap(r))
}

// moved makes the Kymas that came from another replica wait for the rate limit: their catalogs were right a moment ago. Those that went to
// another one are forgotten now.
func (r *Reconciler) moved(ctx context.Context, to queue, moved sharding.OwnershipChange) {
	r.waiting.add(r.remote(ctx, "", func(bucket int) bool { return moved.Gained[bucket] })...)
	for _, key := range r.states.known() {
		if moved.Lost[sharding.Bucket(key.Namespace, key.Name)] {
			to.Add(reconcile.Request{NamespacedName: key})
		}
	}
}

// met passes the moment at which the runtime has its Kyma, or turns out to belong to another Kyma.
var met = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, known := e.ObjectOld.(*v1beta2.Kyma)
	after, ok := e.ObjectNew.(*v1beta2.Kyma)
	return known && ok && hasRuntime(before) != hasRuntime(after)
}}

func (r *Reconciler) throughSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	key := types.NamespacedName{Namespace: secret.GetNamespace(), Name: secret.GetLabels()[v1beta2.LabelKymaName]}
	r.Clusters.Changed(ctx, key.Namespace, key.Name)
	return []reconcile.Request{{NamespacedName: key}}
}

// kymas enqueues Kymas now, except those that exist when the manager starts: their catalogs were right a moment ago.
func (r *Reconciler) kymas() handler.EventHandler {
	now := func(object client.Object, to queue) {
		to.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, to queue) {
			switch key := client.ObjectKeyFromObject(e.Object); {
			case !e.IsInInitialList:
				now(e.Object, to)
			case r.Shard.Mine(sharding.Bucket(key.Namespace, key.Name)): // else it waits when it comes to us
				r.waiting.add(key)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, to queue) { now(e.ObjectNew, to) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, to queue) { now(e.Object, to) },
	}
}

// offered makes all remote Kymas of a namespace wait for the rate limit. What exists when the manager starts enqueues none: every Kyma
// waits then anyway.
func (r *Reconciler) offered() handler.EventHandler {
	changed := func(ctx context.Context, object client.Object) {
		r.contents.changed(object.GetNamespace())
		r.waiting.add(r.remote(ctx, object.GetNamespace(), r.Shard.Mine)...)
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, _ queue) {
			if e.IsInInitialList {
				r.contents.changed(e.Object.GetNamespace())
				return
			}
			changed(ctx, e.Object)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, _ queue) { changed(ctx, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, _ queue) { changed(ctx, e.Object) },
	}
}

// remote returns the Kymas of a namespace (empty: of all) that have a runtime and are in certain buckets. Only names are read, and a Kyma
// that is being written at this moment enqueues itself, so the handler neither copies nor waits.
func (r *Reconciler) remote(ctx context.Context, namespace string, in func(bucket int) bool) []types.NamespacedName {
	kymas := &v1beta2.KymaList{}
	err := r.Client.List(ctx, kymas, client.InNamespace(namespace), client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return nil // the cache is shutting down; nothing is left to wake
	}
	keys := make([]types.NamespacedName, 0, len(kymas.Items))
	for i := range kymas.Items {
		if kyma := &kymas.Items[i]; concerns(kyma) && in(sharding.Bucket(kyma.Namespace, kyma.Name)) {
			keys = append(keys, client.ObjectKeyFromObject(kyma))
		}
	}
	return keys
}
