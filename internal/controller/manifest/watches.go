package manifest

import (
	"bytes"
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
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// indexKyma finds the Manifests that use the access Secret of a Kyma.
const indexKyma = "kyma-name"

// Setup registers the controller: every change wakes exactly the Manifests that depend on it.
//
//   - a Manifest wakes itself when its spec, labels, annotations or deletion changed, never by its own status;
//   - an access Secret wakes the Manifests that go through it, after its old connection was dropped;
//   - what happens to an object in a cluster wakes the Manifest that is marked as its owner;
//   - a reference that names other content by now wakes the Manifests that installed from it;
//   - a Secret of the hub whose data was installed, or the operator's login for registries, wakes those that wait for it;
//   - a Manifest that comes from another replica, or goes to one, is looked at or let go of;
//   - other rules for signatures wake those that were refused.
//
// What its Kyma wrote is as urgent as what the Kyma was looked at for; what concerns many Manifests at once comes after what a person or a
// runtime did.
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
	if r.Causes == nil {
		r.Causes = &urgency.Causes{}
	}
	options = r.Turns.Bound(options, r.Causes.Manifests.Keep)
	r.audited = make(chan event.GenericEvent)
	audited := urgency.Wake(urgency.Itself, urgency.Always(urgency.Later), settled)
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("manifest").
		WithOptions(options).
		For(&v1beta2.Manifest{}, builder.WithPredicates(urgency.NameOnly)).
		Watches(&v1beta2.Manifest{}, urgency.Wake(urgency.Itself, r.ofKyma, settled), builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletionChanged))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.throughSecret), builder.WithPredicates(accessSecret)).
		WatchesRawSource(r.Fleet.Source()).
		WatchesRawSource(source.Channel(r.audited, audited))
	if r.Moves != nil {
		controlled = controlled.WatchesRawSource(shard.Source(r.Moves, r.handedOver))
	}
	if r.Signatures != nil {
		controlled = controlled.WatchesRawSource(r.Signatures)
	}
	return r.watchSecrets(controlled).Complete(r.Turns.Around(r))
}

// handedOver enqueues the Manifests whose buckets changed hands.
func (r *Reconciler) handedOver(ctx context.Context, queue urgency.Queue, moved shard.Moved) {
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
		level := urgency.Soon
		if settled(manifest) {
			level = urgency.Idle
		}
		urgency.Add(queue, level, urgency.Itself(ctx, manifest)...)
	}
}

var deletionChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// accessSecret passes what changes access: that somebody else touched the Secret does not.
var accessSecret = predicate.And(
	predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[v1beta2.LabelKymaName] != "" }),
	predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, known := e.ObjectOld.(*corev1.Secret)
		after, ok := e.ObjectNew.(*corev1.Secret)
		return !known || !ok || before.Labels[v1beta2.LabelKymaName] != after.Labels[v1beta2.LabelKymaName] ||
			!bytes.Equal(before.Data[v1beta2.AccessSecretKey], after.Data[v1beta2.AccessSecretKey])
	}},
)

// settled says that a status tells all there is to tell of a Manifest, as most do when the manager starts.
func settled(o client.Object) bool {
	m, ok := o.(*v1beta2.Manifest)
	return ok && m.Status.ObservedGeneration == m.Generation && m.Status.State == v1beta2.StateReady
}

// ofKyma is how urgent a change of a Manifest is: as urgent as what its Kyma was looked at for, which made it most likely.
func (r *Reconciler) ofKyma(_, now client.Object) urgency.Level {
	owner := metav1.GetControllerOf(now)
	if owner == nil || owner.Kind != "Kyma" {
		return urgency.Now
	}
	return r.Causes.Kymas.Of(types.NamespacedName{Namespace: now.GetNamespace(), Name: owner.Name})
}

func (r *Reconciler) throughSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	name := secret.GetLabels()[v1beta2.LabelKymaName]
	r.Fleet.Changed(ctx, secret.GetNamespace(), name)
	list := &v1beta2.ManifestList{}
	// Only names are read. A Manifest that is written at this moment wakes itself, so there is nothing to wait for either.
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
