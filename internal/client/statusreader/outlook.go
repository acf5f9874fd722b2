package statusreader

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// ReadOutlook reads what decides which version of a module each Kyma of a namespace gets: the Kymas, the Manifests of the module, and all
// releases and templates of the namespace. It reads Kymas and Manifests in pages, and keeps of them what decisions look at. The spec of a
// Kyma is the effective one.
func ReadOutlook(ctx context.Context, from client.Reader, release *v1beta2.ModuleReleaseMeta) (modulestatus.Inputs, error) {
	g := &reading{reader: from}
	var releases v1beta2.ModuleReleaseMetaList
	var templates v1beta2.ModuleTemplateList
	in := within(release.Namespace)
	g.list(ctx, ownKind("ModuleReleaseMeta"), release.Namespace, &releases, in...)
	g.list(ctx, ownKind("ModuleTemplate"), release.Namespace, &templates, in...)
	g.in.Releases, g.in.Templates = releases.Items, templates.Items
	g.deciding(ctx, release)
	return g.in, g.fatal
}

func (g *reading) deciding(ctx context.Context, release *v1beta2.ModuleReleaseMeta) {
	var kymas v1beta2.KymaList
	g.pages(ctx, "Kyma", release.Namespace, &kymas, nil, func() {
		for i := range kymas.Items {
			g.in.Kymas = append(g.in.Kymas, decidingKyma(&kymas.Items[i]))
		}
		kymas.Items = nil
	})
	if len(g.in.Unread) > 0 || g.fatal != nil {
		return
	}
	var manifests v1beta2.ManifestList
	of := client.MatchingLabels{v1beta2.LabelModuleName: release.Name}
	g.pages(ctx, "Manifest", release.Namespace, &manifests, of, func() {
		for i := range manifests.Items {
			if m := &manifests.Items[i]; module.KymaName(m) != "" { // a standalone Manifest belongs to no Kyma
				m.Status.Synced, m.ManagedFields = nil, nil
				g.in.Manifests = append(g.in.Manifests, *m)
			}
		}
		manifests.Items = nil
	})
}

// decidingKyma keeps of a Kyma what decisions about its modules look at.
func decidingKyma(kyma *v1beta2.Kyma) v1beta2.Kyma {
	kept := v1beta2.Kyma{Spec: modulestatus.Effective(kyma)}
	kept.Namespace, kept.Name, kept.UID, kept.Labels = kyma.Namespace, kyma.Name, kyma.UID, kyma.Labels
	kept.Generation, kept.CreationTimestamp, kept.DeletionTimestamp = kyma.Generation, kyma.CreationTimestamp, kyma.DeletionTimestamp
	kept.Status.RuntimeID = kyma.Status.RuntimeID
	for _, condition := range kyma.Status.Conditions {
		if condition.Type == v1beta2.ConditionReady {
			kept.Status.Conditions = []metav1.Condition{condition}
		}
	}
	for i := range kyma.Status.Modules {
		entry := kyma.Status.Modules[i]
		entry.Reason, entry.Message, entry.ResourceMessage, entry.Resource, entry.Template = "", "", "", nil, nil
		kept.Status.Modules = append(kept.Status.Modules, entry)
	}
	return kept
}
