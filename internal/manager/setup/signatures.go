package setup

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/kyma"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// newVerified returns Components that verify signatures according to the policy.
func newVerified(reader *descriptor.Reader, signatures *policy.SignatureFile, log logr.Logger) *modulecontent.Components {
	components := modulecontent.NewComponents(reader)
	components.Signatures, components.Log = signatures.For, log
	return components
}

// SignedDigests returns the content that a component version covers.
func (p *componentsPort) SignedDigests(ctx context.Context, key module.ComponentKey) (*modulecontent.SignedDigests, time.Duration, error) {
	return p.now().SignedDigests(ctx, key)
}

// PolicyID returns the name of the policy for a component.
func (p *componentsPort) PolicyID(component string) string { return p.now().PolicyID(component) }

// holdToSignatures applies the policy to the content of Manifests, and notifies both controllers of changes of the policy: every Kyma is
// resolved again, and every Manifest is judged again. Installed objects stay.
func holdToSignatures(
	signatures *policy.SignatureFile, components *componentsPort, contents *modulecontent.Contents, log logr.Logger,
	kymas *kyma.Reconciler, manifests *manifest.Reconciler,
) {
	contents.Signed, contents.Log = components, log
	kymas.Signatures = wake(signatures, func(ctx context.Context) []reconcile.Request {
		list := &v1beta2.KymaList{}
		if err := kymas.Client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
			return nil // the cache is shutting down; nothing is left to enqueue
		}
		var requests []reconcile.Request
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	})
	manifests.Signatures = wake(signatures, func(ctx context.Context) []reconcile.Request {
		list := &v1beta2.ManifestList{}
		if err := manifests.Client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	})
}

// wake enqueues requests whenever the rules for signatures change.
func wake(signatures *policy.SignatureFile, whom func(context.Context) []reconcile.Request) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		signatures.OnChange(func() {
			if ctx.Err() != nil {
				return
			}
			priority.Add(queue, priority.Later, whom(ctx)...)
		})
		return nil
	})
}
