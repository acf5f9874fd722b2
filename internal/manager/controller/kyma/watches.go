package kyma

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	"github.com/kyma-project/lifecycle-manager/internal/manager/predicates"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// indexKyma finds the Manifests of a Kyma.
	indexKyma = "of-kyma"
	// indexModule finds the Kymas that have or had a module.
	indexModule = "module"
	// indexValues finds the Kymas that take values from objects of a name.
	indexValues = "values"
)

// Setup registers the controller: every change enqueues exactly the Kymas that depend on it.
//
//   - a Kyma enqueues itself when its spec, labels or deletion changed, never by its own status;
//   - a Manifest enqueues its Kyma, also by its status;
//   - an access Secret enqueues its Kyma, and so do events in the runtime about what the Kyma needs there, and what its modules require
//     while
//     they wait for that;
//   - a catalog that gets in sync, or out of it, enqueues its Kyma, the image pull Secret enqueues all of them;
//   - a Secret or ConfigMap with values enqueues the Kymas whose entries take values from it;
//   - a ModuleReleaseMeta or ModuleTemplate enqueues the Kymas that have the module, or all when it is mandatory, spread over rollout when
//     that is set;
//   - a ModuleRollout enqueues the Kymas that it lets have something else than before, a release all that have the module when another
//     rollout decides, or none;
//   - a KymaRelease that appears or goes enqueues the Kymas that name it;
//   - a Kyma that comes from another replica, or goes to one, is reconciled or forgotten;
//   - another maintenance policy enqueues the Kymas that wait, as does another approval policy, and what a version asks for once it is
//     known;
//     other rules for signatures enqueue all of them.
//
// What a user or a runtime did goes first, a change of a Manifest has the priority of the pass that caused it, and what concerns many Kymas
// at once comes last.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options, rollout time.Duration) error {
	if err := addIndexes(mgr); err != nil {
		return err
	}
	r.initPriorities()
	options = r.Slots.Configure(options, r.Priorities.Kymas.Keep)
	templateChanged := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("kyma").
		WithOptions(options).
		For(&v1beta2.Kyma{}, builder.WithPredicates(priority.NameOnly)).
		Watches(&v1beta2.Kyma{}, priority.Enqueue(priority.RequestFor, priority.Always(priority.Now), settled), builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicates.DeletionChanged,
				takeOverAsked))).
		Watches(&v1beta2.Manifest{}, priority.Enqueue(kymasOf, r.ofManifest, everything)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(kymaOfSecret)).
		WatchesRawSource(r.Clusters.Source()).
		WatchesRawSource(r.Catalog.Source()).
		Watches(&v1beta2.ModuleReleaseMeta{}, r.dependents(rollout, func(o client.Object) []string { return []string{o.GetName()} }),
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, markChanged))).
		Watches(&v1beta2.ModuleTemplate{}, r.dependents(rollout, modulesOfTemplate), builder.WithPredicates(templateChanged))
	if r.Rollouts {
		controlled = controlled.Watches(&v1beta2.ModuleRollout{}, r.rolloutEvents(rollout))
	}
	if r.Releases {
		controlled = controlled.Watches(&v1beta2.KymaRelease{}, r.releaseEvents(rollout))
	}
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(sharding.Source(r.Moves, r.moved))
	}
	if r.Windows != nil {
		controlled = controlled.WatchesRawSource(r.policyChanged())
	}
	if r.Approvals != nil {
		controlled = controlled.WatchesRawSource(r.approvalsChanged())
	}
	if r.Rights != nil {
		controlled = controlled.WatchesRawSource(r.Rights.Source())
	}
	if r.Login != nil {
		controlled = controlled.WatchesRawSource(r.Login)
	}
	if r.Signatures != nil {
		controlled = controlled.WatchesRawSource(r.Signatures)
	}
	if r.PullSecret != nil {
		controlled = controlled.WatchesRawSource(r.PullSecret.Source())
	}
	if r.HubValues != nil {
		controlled = controlled.WatchesRawSource(r.valuesChanged())
	}
	return controlled.Complete(r.Slots.Wrap(r))
}

// moved enqueues the Kymas whose buckets changed hands.
func (r *Reconciler) moved(ctx context.Context, queue priority.Queue, moved sharding.OwnershipChange) {
	list := &v1beta2.KymaList{}
	// Only names and what is settled are read.
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return // the cache is shutting down; nothing is left to wake
	}
	for i := range list.Items {
		kyma := &list.Items[i]
		if !moved.Either(sharding.Bucket(kyma.Namespace, kyma.Name)) {
			continue
		}
		level := priority.Soon
		if settled(kyma) {
			level = priority.Idle
		}
		priority.Add(queue, level, priority.RequestFor(ctx, kyma)...)
	}
}

func addIndexes(mgr ctrl.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &v1beta2.Manifest{}, indexKyma, kymaNames); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1beta2.ModuleReleaseMeta{}, indexMandatory, isMandatory); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1beta2.Kyma{}, indexValues, valuesNames); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1beta2.Kyma{}, indexRelease, releaseNamed); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &v1beta2.Kyma{}, indexModule, func(o client.Object) []string {
		kyma, ok := o.(*v1beta2.Kyma)
		if !ok {
			return nil
		}
		return slices.Collect(maps.Keys(versionsByModule(&module.Snapshot{Kyma: kyma})))
	})
}

// kymaNames returns the Kyma that a Manifest belongs to, if any.
func kymaNames(o client.Object) []string {
	if name := module.KymaName(o); name != "" {
		return []string{name}
	}
	return nil
}

func kymasOf(_ context.Context, o client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range kymaNames(o) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}})
	}
	return requests
}

func kymaOfSecret(_ context.Context, secret client.Object) []reconcile.Request {
	name := secret.GetLabels()[v1beta2.LabelKymaName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: secret.GetNamespace(), Name: name}}}
}

// dependents enqueues the Kymas that have one of the modules that an object names, or all when it is mandatory. Without a rollout delay
// they come at once; with one, each waits a random part of it, so that a release does not reach every runtime in the same second. What
// exists when the manager starts enqueues none: every Kyma is reconciled then anyway.
func (r *Reconciler) dependents(rollout time.Duration, modules func(client.Object) []string) handler.EventHandler {
	enqueue := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], seen ...client.Object) {
		for _, name := range modules(seen[0]) {
			for _, request := range r.affected(ctx, seen[0].GetNamespace(), name, seen...) {
				var pause time.Duration
				if rollout > 0 {
					pause = rand.N(rollout) //nolint:gosec // spreads load, guards nothing
				}
				priority.AddAfter(queue, priority.Later, pause, request)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if !e.IsInInitialList {
				enqueue(ctx, q, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, q, e.ObjectNew, e.ObjectOld)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, q, e.Object)
		},
	}
}

// initPriorities makes sure that Causes is set.
func (r *Reconciler) initPriorities() {
	if r.Priorities == nil {
		r.Priorities = &priority.LastPriorities{}
	}
}

// settled reports whether a Kyma's status is final for its generation, as most are when the manager starts.
func settled(o client.Object) bool {
	kyma, ok := o.(*v1beta2.Kyma)
	return ok && kyma.Status.ObservedGeneration == kyma.Generation && kyma.Status.State == v1beta2.StateReady
}

// everything counts every object as settled, where another controller finds those that are not.
func everything(client.Object) bool { return true }

// ofManifest returns the priority that a change of a Manifest has for its Kyma: the Kyma's own pass writes the spec, the Manifest's pass
// the status.
func (r *Reconciler) ofManifest(before, now client.Object) priority.Level {
	if before == nil || before.GetGeneration() != now.GetGeneration() {
		for _, name := range kymaNames(now) {
			return r.Priorities.Kymas.Of(types.NamespacedName{Namespace: now.GetNamespace(), Name: name})
		}
	}
	return r.Priorities.Manifests.Of(client.ObjectKeyFromObject(now))
}

// kymasWith returns the Kymas that have or had a module. Only names are read, and a Kyma that is being written at this moment enqueues
// itself, so the handler neither copies nor waits.
func (r *Reconciler) kymasWith(ctx context.Context, namespace, name string) []reconcile.Request {
	found := r.kymasIn(ctx, func(*v1beta2.Kyma) bool { return true }, client.InNamespace(namespace), client.MatchingFields{indexModule: name})
	return append(found, r.unindexed(namespace, name)...)
}

// unindexed returns the Kymas that have a module and that the index does not find.
func (r *Reconciler) unindexed(namespace, name string) []reconcile.Request {
	var found []reconcile.Request
	r.unnamed.Range(func(key, names any) bool {
		kyma, isKey := key.(types.NamespacedName)
		modules, isList := names.([]string)
		if isKey && isList && kyma.Namespace == namespace && slices.Contains(modules, name) {
			found = append(found, reconcile.Request{NamespacedName: kyma})
		}
		return true
	})
	return found
}

// nameModules records the modules of a Kyma that the index does not find: those that only the users of its runtime request, before a status
// names them. It runs before anything of these modules is read, so that later changes of them enqueue the Kyma.
func (r *Reconciler) nameModules(hub, effective *v1beta2.Kyma) {
	indexed := versionsByModule(&module.Snapshot{Kyma: hub})
	var names []string
	for i := range effective.Spec.Modules {
		if name := effective.Spec.Modules[i].Name; indexed[name] == nil {
			names = append(names, name)
		}
	}
	key := client.ObjectKeyFromObject(hub)
	if len(names) == 0 {
		r.unnamed.Delete(key)
		return
	}
	r.unnamed.Store(key, names)
}

// modulesOfTemplate returns the modules that may read a template of that name, whatever its spec says: a wrong spec must be reported, too.
// The name is "<module>-<version>", and both may contain dashes.
func modulesOfTemplate(o client.Object) []string {
	var modules []string
	name := o.GetName()
	for i := 1; i < len(name)-1; i++ {
		if name[i] == '-' && '0' <= name[i+1] && name[i+1] <= '9' {
			modules = append(modules, name[:i])
		}
	}
	return modules
}
