package statusreader

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// ReadRollouts reads the ModuleRollouts and the releases of a namespace, or of all if it is empty.
func ReadRollouts(ctx context.Context, from client.Reader, namespace string) (modulestatus.Inputs, error) {
	g := &reading{reader: from}
	var rollouts v1beta2.ModuleRolloutList
	var releases v1beta2.ModuleReleaseMetaList
	together([]func(){
		func() { g.list(ctx, ownKind("ModuleRollout"), namespace, &rollouts, within(namespace)...) },
		func() { g.list(ctx, ownKind("ModuleReleaseMeta"), namespace, &releases, within(namespace)...) },
	})
	g.in.Rollouts, g.in.Releases = rollouts.Items, releases.Items
	return g.in, g.fatal
}

// ReadMembers reads what tells which version of a release each Kyma of its namespace has: the Kymas, or the Manifests of a mandatory
// module. It reads them in pages and keeps only what concerns the module, so that thousands need little memory.
func ReadMembers(ctx context.Context, from client.Reader, release *v1beta2.ModuleReleaseMeta) (modulestatus.Inputs, error) {
	g := &reading{reader: from}
	if release.Spec.Mandatory != nil {
		g.manifestsOf(ctx, release)
	} else {
		g.kymasWith(ctx, release)
	}
	return g.in, g.fatal
}

func (g *reading) kymasWith(ctx context.Context, release *v1beta2.ModuleReleaseMeta) {
	var page v1beta2.KymaList
	g.pages(ctx, "Kyma", release.Namespace, &page, nil, func() {
		for i := range page.Items {
			g.in.Kymas = append(g.in.Kymas, trimmedKyma(&page.Items[i], release.Name))
		}
		page.Items = nil
	})
}

func (g *reading) manifestsOf(ctx context.Context, release *v1beta2.ModuleReleaseMeta) {
	var page v1beta2.ManifestList
	of := client.MatchingLabels{v1beta2.LabelModuleName: release.Name}
	g.pages(ctx, "Manifest", release.Namespace, &page, of, func() {
		for i := range page.Items {
			if m := &page.Items[i]; module.KymaName(m) != "" { // a standalone Manifest belongs to no release
				m.Spec.Resource, m.Status.Synced, m.ManagedFields = nil, nil, nil
				g.in.Manifests = append(g.in.Manifests, *m)
			}
		}
		page.Items = nil
	})
}

// trimmedKyma keeps of a Kyma what concerns one module. Its spec is the effective one.
func trimmedKyma(kyma *v1beta2.Kyma, name string) v1beta2.Kyma {
	spec := modulestatus.Effective(kyma)
	kept := v1beta2.Kyma{}
	kept.Namespace, kept.Name, kept.UID, kept.DeletionTimestamp = kyma.Namespace, kyma.Name, kyma.UID, kyma.DeletionTimestamp
	kept.Spec.Channel, kept.Spec.Release = spec.Channel, spec.Release
	for i := range spec.Modules {
		if spec.Modules[i].Name == name {
			kept.Spec.Modules = append(kept.Spec.Modules, spec.Modules[i])
		}
	}
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			kept.Status.Modules = append(kept.Status.Modules, kyma.Status.Modules[i])
		}
	}
	return kept
}
