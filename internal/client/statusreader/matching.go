package statusreader

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// matching reads the Kymas for which the scope's Match is true, and their Manifests, both in pages. A page that cannot be read leaves none
// of the kind: a part would be mistaken for all.
func (g *reading) matching(ctx context.Context, scope Scope) ([]v1beta2.Kyma, []v1beta2.Manifest) {
	var kymas []v1beta2.Kyma
	var page v1beta2.KymaList
	options := within(scope.Namespace)
	if scope.Labels != nil {
		options = append(options, client.MatchingLabelsSelector{Selector: scope.Labels})
	}
	chosen := map[types.NamespacedName]bool{}
	_, err := Pages(ctx, g.reader, &page, func() {
		for i := range page.Items {
			if kyma := &page.Items[i]; scope.Match(kyma) {
				kyma.ManagedFields = nil
				kymas, chosen[client.ObjectKeyFromObject(kyma)] = append(kymas, *kyma), true
			}
		}
		page.Items = nil
	}, options...)
	if g.record(ownKind("Kyma"), "", err); err != nil || len(kymas) == 0 {
		return nil, nil
	}
	return kymas, g.manifestsFor(ctx, scope.Namespace, chosen)
}

// manifestsFor reads the Manifests of some Kymas.
func (g *reading) manifestsFor(ctx context.Context, namespace string, kymas map[types.NamespacedName]bool) []v1beta2.Manifest {
	var manifests []v1beta2.Manifest
	var page v1beta2.ManifestList
	_, err := Pages(ctx, g.reader, &page, func() {
		for i := range page.Items {
			manifest := &page.Items[i]
			if kymas[types.NamespacedName{Namespace: manifest.Namespace, Name: module.KymaName(manifest)}] {
				manifest.ManagedFields = nil
				manifests = append(manifests, *manifest)
			}
		}
		page.Items = nil
	}, within(namespace)...)
	if g.record(ownKind("Manifest"), "", err); err != nil {
		return nil
	}
	return manifests
}
