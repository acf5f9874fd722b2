package kyma

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// indexKyma finds the Manifests that are, or may be, a Kyma's.
	indexKyma = "of-kyma"
	// indexModule finds the Kymas that have or had a module.
	indexModule = "module"
)

// Setup registers the controller: every change wakes exactly the Kymas that depend on it.
//
//   - a Kyma wakes itself when its spec, labels or deletion changed, never by its own status;
//   - a Manifest wakes its Kyma, also by its status;
//   - a ModuleReleaseMeta or ModuleTemplate wakes the Kymas that have the module, spread over rollout when that is set.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options, rollout time.Duration) error {
	if err := addIndexes(mgr); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("kyma").
		WithOptions(options).
		For(&v1beta2.Kyma{}, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, deletionChanged))).
		Owns(&v1beta2.Manifest{}).
		Watches(&v1beta2.ModuleReleaseMeta{}, r.dependents(rollout, func(o client.Object) string { return o.GetName() }),
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		Watches(&v1beta2.ModuleTemplate{}, r.dependents(rollout, moduleOfTemplate),
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Complete(r)
}

func addIndexes(mgr ctrl.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	err := indexer.IndexField(ctx, &v1beta2.Manifest{}, indexKyma, func(o client.Object) []string {
		names := map[string]struct{}{}
		if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "Kyma" {
			names[owner.Name] = struct{}{}
		}
		if name := o.GetLabels()[v1beta2.LabelKymaName]; name != "" {
			names[name] = struct{}{}
		}
		return slices.Collect(maps.Keys(names))
	})
	if err != nil {
		return err
	}
	return indexer.IndexField(ctx, &v1beta2.Kyma{}, indexModule, func(o client.Object) []string {
		kyma, ok := o.(*v1beta2.Kyma)
		if !ok {
			return nil
		}
		return slices.Collect(maps.Keys(versionsByModule(&module.World{Kyma: kyma})))
	})
}

var deletionChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// dependents enqueues the Kymas that have the module which an object speaks of. Without a rollout delay they come at once;
// with one, each waits a random part of it, so that a release does not reach every runtime in the same second.
func (r *Reconciler) dependents(rollout time.Duration, name func(client.Object) string) handler.EventHandler {
	enqueue := func(ctx context.Context, o client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		kymas := &v1beta2.KymaList{}
		err := r.Client.List(ctx, kymas, client.InNamespace(o.GetNamespace()), client.MatchingFields{indexModule: name(o)})
		if err != nil {
			return // the cache is shutting down; nothing is left to wake
		}
		for i := range kymas.Items {
			request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: kymas.Items[i].Namespace, Name: kymas.Items[i].Name}}
			if rollout <= 0 {
				queue.Add(request)
				continue
			}
			queue.AddAfter(request, rand.N(rollout))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, q)
		},
	}
}

func moduleOfTemplate(o client.Object) string {
	if template, ok := o.(*v1beta2.ModuleTemplate); ok {
		return cmp.Or(template.Spec.ModuleName, template.Labels[v1beta2.LabelModuleName],
			strings.TrimSuffix(template.Name, "-"+template.Spec.Version))
	}
	return ""
}
