package manifest

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Changes make a controller hear of changes, and say what they wake.
type Changes interface {
	Source(wake handler.EventHandler) source.Source
}

// HubSecrets are the Secrets of the hub that are meant for module deployer, as they are now.
type HubSecrets interface {
	Changes
	// Get is nil when none of that name is known. It is shared and makes no call.
	Get(ctx context.Context, key types.NamespacedName) *corev1.Secret
}

// watchSecrets wakes by Secrets of the hub that lead to no runtime: by one whose data is installed the Manifests that may have it, by the
// operator's own login for registries those that a registry refused something.
func (r *Reconciler) watchSecrets(b *builder.Builder) *builder.Builder {
	if r.HubSecrets != nil {
		b = b.WatchesRawSource(r.HubSecrets.Source(urgency.Wake(r.throughHubSecret, urgency.Always(urgency.Later), everything)))
	}
	if r.Login != nil {
		b = b.WatchesRawSource(r.Login.Source(urgency.Wake(r.throughLogin, urgency.Always(urgency.Later), everything)))
	}
	return b
}

// everything counts as settled: what is there when the manager starts is looked at for its own sake.
func everything(client.Object) bool { return true }

func (r *Reconciler) throughHubSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	return r.those(ctx, func(*v1beta2.Manifest) bool { return true },
		client.InNamespace(secret.GetNamespace()), client.MatchingLabels{v1beta2.LabelModuleName: deployer})
}

func (r *Reconciler) throughLogin(ctx context.Context, _ client.Object) []reconcile.Request {
	refused := []string{v1beta2.ReasonRegistryUnauthorized, v1beta2.ReasonRegistryUnreachable, v1beta2.ReasonContentNotFound}
	return r.those(ctx, func(m *v1beta2.Manifest) bool {
		ready := conditions.Find(m.Status.Conditions, v1beta2.ConditionReady)
		return ready != nil && slices.Contains(refused, ready.Reason)
	})
}

// those are requests for the Manifests that fit.
func (r *Reconciler) those(ctx context.Context, fits func(*v1beta2.Manifest) bool, options ...client.ListOption) []reconcile.Request {
	list := &v1beta2.ManifestList{}
	// Nothing waits for our own writes: a Manifest that is written at this moment comes back by what it finds.
	options = append(options, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err := r.Client.List(ctx, list, options...); err != nil {
		return nil // the cache is shutting down; nothing is left to wake
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if fits(&list.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
