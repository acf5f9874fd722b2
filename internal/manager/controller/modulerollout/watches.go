package modulerollout

import (
	"context"
	"strings"

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
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Setup registers the controller:
//
//   - a rollout enqueues itself when its spec, deletion, finalizers or suspension changed, never by its own status;
//   - the release of its name enqueues it when its spec, its annotations or its deletion changed, a template of its module always;
//   - a Kyma or a Manifest that is a member, or may become one, is noted and enqueues the rollout, at most once in a moment;
//   - another maintenance policy enqueues every rollout, and one that comes from another replica, or goes to one, is counted or forgotten.
//
// The time of a step enqueues it, too; nothing else does.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options) error {
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("rollout").
		WithOptions(options).
		For(&v1beta2.ModuleRollout{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, finalizersChanged, resumed))).
		Watches(&v1beta2.ModuleReleaseMeta{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&v1beta2.ModuleTemplate{}, noting(r.ofTemplate)).
		Watches(&v1beta2.Kyma{}, noting(r.ofKyma)).
		Watches(&v1beta2.Manifest{}, noting(r.ofManifest))
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(sharding.Source(r.Moves, r.moved))
	}
	if r.Windows != nil {
		controlled = controlled.WatchesRawSource(r.policyChanged())
	}
	return controlled.Complete(r)
}

// finalizersChanged passes updates that removed a finalizer, so that it is restored.
var finalizersChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return len(e.ObjectOld.GetFinalizers()) != len(e.ObjectNew.GetFinalizers())
}}

// resumed passes updates that end the suspension of a rollout.
var resumed = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, is := e.ObjectOld.(*v1beta2.ModuleRollout)
	now, also := e.ObjectNew.(*v1beta2.ModuleRollout)
	return is && also && module.RolloutSuspended(before) && !module.RolloutSuspended(now)
}}

// noting returns a handler that calls a function for every object of an event, before and after a change.
func noting(note func(client.Object, queue)) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, to queue) { note(e.Object, to) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, to queue) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() { // the cache resyncs all objects now and then
				note(e.ObjectOld, to)
				note(e.ObjectNew, to)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, to queue) { note(e.Object, to) },
	}
}

// ofKyma notes a Kyma for the rollouts of its modules, and for those that it is a member of.
func (r *Reconciler) ofKyma(o client.Object, to queue) {
	kyma, ok := o.(*v1beta2.Kyma)
	if !ok {
		return
	}
	for key, known := range r.counts.in(kyma.Namespace) {
		r.note(key, known, kyma.Name, known.everyone() || names(kyma, key.Name), to)
	}
}

// names reports whether a Kyma's spec or status has a module.
func names(kyma *v1beta2.Kyma, name string) bool {
	if _, follows := module.Follows(kyma, name); follows {
		return true
	}
	return entryOf(kyma, name) != nil
}

// ofManifest notes the Kyma of a Manifest for the rollout of its module.
func (r *Reconciler) ofManifest(o client.Object, to queue) {
	name, kyma := o.GetLabels()[v1beta2.LabelModuleName], module.KymaName(o)
	if name == "" || kyma == "" {
		return
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: name}
	if known := r.counts.get(key); known != nil {
		r.note(key, known, kyma, true, to)
	}
}

// note notes a Kyma for a rollout.
func (r *Reconciler) note(key types.NamespacedName, known *count, kyma string, concerned bool, to queue) {
	_, now := r.Clock()
	if pause, enqueue := known.touch(kyma, concerned, now); enqueue {
		to.AddAfter(reconcile.Request{NamespacedName: key}, pause)
	}
}

// ofTemplate enqueues the rollouts that may read a template of that name: "<module>-<version>", where both may contain dashes.
func (r *Reconciler) ofTemplate(o client.Object, to queue) {
	for key := range r.counts.in(o.GetNamespace()) {
		if strings.HasPrefix(o.GetName(), key.Name+"-") {
			to.Add(reconcile.Request{NamespacedName: key})
		}
	}
}

// moved enqueues the rollouts whose buckets changed hands.
func (r *Reconciler) moved(ctx context.Context, to queue, moved sharding.OwnershipChange) {
	list := &v1beta2.ModuleRolloutList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return // the cache is shutting down; nothing is left to wake
	}
	for i := range list.Items {
		if key := client.ObjectKeyFromObject(&list.Items[i]); moved.Either(sharding.Bucket(key.Namespace, key.Name)) {
			to.Add(reconcile.Request{NamespacedName: key})
		}
	}
}

// policyChanged enqueues every rollout that is counted: other Kymas may wait for a window now.
func (r *Reconciler) policyChanged() source.Source {
	return source.Func(func(ctx context.Context, to queue) error {
		r.Windows.OnChange(func() {
			if ctx.Err() != nil {
				return
			}
			for _, key := range r.counts.all() {
				to.Add(reconcile.Request{NamespacedName: key})
			}
		})
		return nil
	})
}
