package setup

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulerights"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// newApprovals reads the policy for consent and publishes whether it is in force.
func (a *assembly) newApprovals() (*policy.ApprovalFile, error) {
	approvals, err := policy.Approvals(a.config.ApprovalFile, a.log.WithName("approvals"))
	if err != nil || a.config.ApprovalFile == "" {
		return approvals, err
	}
	return approvals, metrics.WatchApprovals(a.registry, approvals.Good)
}

// newRights returns what finds out what versions ask for.
func (a *assembly) newRights() (*modulerights.Rights, error) {
	rights := modulerights.New(rightsContent{a.contents}, clusterCapabilities{a.runtimes, a.config.LocalAccount}.of)
	rights.Log = a.log.WithName("rights")
	var err error
	rights.Rendered, err = metrics.CountRenders(a.registry)
	return rights, err
}

// rightsContent renders the objects of Manifests as they would be installed.
type rightsContent struct{ contents *modulecontent.Contents }

// NeedsCapabilities reports whether a Manifest is rendered differently for different clusters.
func (c rightsContent) NeedsCapabilities(m *v1beta2.Manifest) (bool, error) {
	return c.contents.NeedsCapabilities(m)
}

// Content returns the objects of all parts of a Manifest, in their namespaces and with their localised images. Kinds that neither
// Kubernetes nor the content defines stay without a namespace: their scope is up to the cluster.
func (c rightsContent) Content(
	ctx context.Context, m *v1beta2.Manifest, known runtimes.Capabilities,
) (made permissions.Content, err error) {
	parts, err := c.contents.Explore(ctx, m, known)
	if errors.Is(err, modulecontent.ErrPending) {
		return made, modulerights.ErrPending
	}
	if err != nil {
		return made, err
	}
	var all []*unstructured.Unstructured
	for _, part := range parts {
		all = append(all, part.Rendered.Objects()...)
		made.Untried = made.Untried || part.Rendered.Untried
	}
	scope := render.Scopes(all).Scope
	for _, part := range parts {
		namespace := cmp.Or(part.Namespace, m.Spec.TargetNamespace)
		objects, err := place(part.Rendered.Objects(), namespace, scope, m.Spec.LocalizedImages)
		if err != nil {
			return made, err
		}
		// One by one, since an object may be there in several forms.
		for _, object := range part.Rendered.Conditional {
			conditional, err := place([]*unstructured.Unstructured{object}, namespace, scope, m.Spec.LocalizedImages)
			if err != nil {
				made.Untried = true // it could not be installed like that
				continue
			}
			made.Conditional = append(made.Conditional, conditional...)
		}
		made.Objects = append(made.Objects, objects...)
	}
	return made, nil
}

// place gives objects their namespaces and images.
func place(
	objects []*unstructured.Unstructured, namespace string, scope render.Scope, images []string,
) ([]*unstructured.Unstructured, error) {
	placed, err := render.Normalise(objects, namespace, scope)
	if err != nil {
		return nil, &content.Error{Reason: content.ReasonContentInvalid, Err: err}
	}
	return render.LocaliseImages(placed, images)
}

// clusterCapabilities knows what the clusters of Kymas serve.
type clusterCapabilities struct {
	fleet   *clustercache.Clusters
	account string
}

func (c clusterCapabilities) of(ctx context.Context, kyma types.NamespacedName, local bool) (runtimes.Capabilities, error) {
	runtime, err := c.fleet.Get(ctx, clustercache.Target{
		Namespace: kyma.Namespace, Name: kyma.Name, Local: local, ServiceAccount: c.account, Owner: clustercache.Kymas.Owner(kyma),
	})
	if err != nil {
		return runtimes.Capabilities{}, err
	}
	return runtime.Capabilities(ctx)
}
