package manifest

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	"github.com/kyma-project/lifecycle-manager/internal/manager/predicates"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

// indexKyma finds the Manifests that use the access Secret of a Kyma.
const indexKyma = "kyma-name"

// Setup registers the controller: every change enqueues exactly the Manifests that depend on it.
//
//   - a Manifest enqueues itself when its spec, labels, annotations or deletion changed, never by its own status;
//   - an access Secret enqueues the Manifests that use it, after its old connection was dropped;
//   - an event of an object in a cluster enqueues the Manifest that is marked as its owner;
//   - a reference that now names other content enqueues the Manifests that installed from it;
//   - a Secret of the hub whose data was installed, or the operator's credentials for registries, enqueue those that wait for it;
//   - a Manifest that comes from another replica, or goes to one, is reconciled or forgotten;
//   - other rules for signatures enqueue those that were refused.
//
// What its Kyma wrote has the priority of the Kyma's pass; what concerns many Manifests at once comes after what a user or a runtime did.
func (r *Reconciler) Setup(mgr ctrl.Manager, options controller.Options) error {
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1beta2.Manifest{}, indexKyma, func(o client.Object) []string {
		if name := o.GetLabels()[v1beta2.LabelKymaName]; name != "" {
			return []string{name}
		}
		return []string{o.GetName()}
	})
	if err != nil {
		return err
	}
	if r.Priorities == nil {
		r.Priorities = &priority.LastPriorities{}
	}
	options = r.Slots.Configure(options, r.Priorities.Manifests.Keep)
	r.audited = make(chan event.GenericEvent)
	audited := priority.Enqueue(priority.RequestFor, priority.Always(priority.Later), settled)
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("manifest").
		WithOptions(options).
		For(&v1beta2.Manifest{}, builder.WithPredicates(priority.NameOnly)).
		Watches(&v1beta2.Manifest{}, priority.Enqueue(priority.RequestFor, r.ofKyma, settled), builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
			predicates.DeletionChanged))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.throughSecret), builder.WithPredicates(predicates.AccessChanged)).
		WatchesRawSource(r.Clusters.Source()).
		WatchesRawSource(source.Channel(r.audited, audited))
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(sharding.Source(r.Moves, r.handedOver))
	}
	if r.Signatures != nil {
		controlled = controlled.WatchesRawSource(r.Signatures)
	}
	return r.watchSecrets(controlled).Complete(r.Slots.Wrap(r))
}

// handedOver enqueues the Manifests whose buckets changed hands.
func (r *Reconciler) handedOver(ctx context.Context, queue priority.Queue, moved sharding.OwnershipChange) {
	list := &v1beta2.ManifestList{}
	// Only names and what is settled are read.
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return // the cache is shutting down; nothing is left to wake
	}
	for i := range list.Items {
		manifest := &list.Items[i]
		if !moved.Either(Bucket(manifest)) {
			continue
		}
		level := priority.Soon
		if settled(manifest) {
			level = priority.Idle
		}
		priority.Add(queue, level, priority.RequestFor(ctx, manifest)...)
	}
}

// settled reports whether a Manifest's status is final for its generation, as most are when the manager starts.
func settled(o client.Object) bool {
	m, ok := o.(*v1beta2.Manifest)
	return ok && m.Status.ObservedGeneration == m.Generation && m.Status.State == v1beta2.StateReady
}

// ofKyma returns the priority of a change of a Manifest: that of its Kyma's last pass, which most likely made the change.
func (r *Reconciler) ofKyma(_, now client.Object) priority.Level {
	owner := metav1.GetControllerOf(now)
	if owner == nil || owner.Kind != "Kyma" {
		return priority.Now
	}
	return r.Priorities.Kymas.Of(types.NamespacedName{Namespace: now.GetNamespace(), Name: owner.Name})
}

func (r *Reconciler) throughSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	name := secret.GetLabels()[v1beta2.LabelKymaName]
	r.Clusters.Changed(ctx, secret.GetNamespace(), name)
	list := &v1beta2.ManifestList{}
	// Only names are read. A Manifest that is being written at this moment enqueues itself, so there is nothing to wait for either.
	err := r.Client.List(ctx, list, client.InNamespace(secret.GetNamespace()), client.MatchingFields{indexKyma: name},
		client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return nil // the cache is shutting down; nothing is left to wake
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
