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
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Changes is a source of change events for a controller; the handler maps each to the objects to enqueue.
type Changes interface {
	Source(wake handler.EventHandler) source.Source
}

// HubSecrets are the Secrets of the hub that are meant for module deployer, in their current state.
type HubSecrets interface {
	Changes
	// Get returns the Secret, nil when none of that name is known. It is shared and makes no call.
	Get(ctx context.Context, key types.NamespacedName) *corev1.Secret
}

// watchSecrets adds the Secrets of the hub that are no access Secrets: one whose data is installed enqueues the Manifests that may have it,
// the operator's own credentials for registries enqueue those that a registry refused.
func (r *Reconciler) watchSecrets(b *builder.Builder) *builder.Builder {
	if r.HubSecrets != nil {
		b = b.WatchesRawSource(r.HubSecrets.Source(priority.Enqueue(r.throughHubSecret, priority.Always(priority.Later), everything)))
	}
	if r.Login != nil {
		b = b.WatchesRawSource(r.Login.Source(priority.Enqueue(r.throughLogin, priority.Always(priority.Later), everything)))
	}
	return b
}

// everything counts every object as settled: what exists when the manager starts is reconciled anyway.
func everything(client.Object) bool { return true }

func (r *Reconciler) throughHubSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	return r.requestsMatching(ctx, func(*v1beta2.Manifest) bool { return true },
		client.InNamespace(secret.GetNamespace()), client.MatchingLabels{v1beta2.LabelModuleName: deployer})
}

func (r *Reconciler) throughLogin(ctx context.Context, _ client.Object) []reconcile.Request {
	refused := []string{v1beta2.ReasonRegistryUnauthorized, v1beta2.ReasonRegistryUnreachable, v1beta2.ReasonContentNotFound}
	return r.requestsMatching(ctx, func(m *v1beta2.Manifest) bool {
		ready := conditions.Find(m.Status.Conditions, v1beta2.ConditionReady)
		return ready != nil && slices.Contains(refused, ready.Reason)
	})
}

// requestsMatching returns requests for the Manifests that fit.
func (r *Reconciler) requestsMatching(
	ctx context.Context, fits func(*v1beta2.Manifest) bool, options ...client.ListOption,
) []reconcile.Request {
	list := &v1beta2.ManifestList{}
	// It does not wait for our own writes: a Manifest that is being written at this moment is enqueued by that write.
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
