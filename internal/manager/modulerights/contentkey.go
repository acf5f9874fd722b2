package modulerights

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// contentKey identifies what is rendered: equal keys give equal objects. The namespace is part of it since its logins decide what may be
// read, and the component since its signature decides what may be installed.
type contentKey struct {
	namespace, module, component, version, digest string
	// capabilities is a hash of what a chart can see of the cluster; empty where nothing can.
	capabilities string
}

// ask is a content with what is needed to render it; the zero value is no content.
type ask struct {
	key      contentKey
	manifest *v1beta2.Manifest
	known    runtimes.Capabilities
	// invalid is why it cannot be rendered for any cluster.
	invalid error
}

// pair is a step from one content, or from none, to another one.
type pair struct{ from, to ask }

// changeKey identifies a step.
type changeKey struct{ from, to contentKey }

func (p *pair) key() changeKey { return changeKey{p.from.key, p.to.key} }

// contentOf returns the content that a Manifest installs into the cluster of a Kyma. The error is about the cluster.
func (r *Rights) contentOf(ctx context.Context, kyma types.NamespacedName, manifest *v1beta2.Manifest) (ask, error) {
	asked := ask{manifest: contentOnly(manifest), key: contentKey{
		namespace: manifest.Namespace, module: manifest.Labels[v1beta2.LabelModuleName], version: manifest.Spec.Version,
		component: manifest.Annotations[v1beta2.AnnotationOCMComponentName], digest: revision.Digest(&manifest.Spec),
	}}
	var needs bool
	if needs, asked.invalid = r.Contents.NeedsCapabilities(asked.manifest); !needs {
		return asked, nil
	}
	var err error
	if asked.known, err = r.Capabilities(ctx, kyma, !manifest.Spec.Remote); err != nil {
		return asked, err
	}
	asked.key.capabilities = hashOf(asked.known)
	return asked, nil
}

// contentOnly returns a Manifest with what decides about its content, who may read it and whether it may be installed. What a
// ModuleTemplate adds is none of that. The content that the status names was read for this Manifest before, and need not be asked for
// again.
func contentOnly(manifest *v1beta2.Manifest) *v1beta2.Manifest {
	spec := &manifest.Spec
	only := &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: manifest.Namespace, Name: manifest.Name, OwnerReferences: manifest.OwnerReferences,
			Labels:      map[string]string{v1beta2.LabelModuleName: manifest.Labels[v1beta2.LabelModuleName]},
			Annotations: map[string]string{v1beta2.AnnotationOCMComponentName: manifest.Annotations[v1beta2.AnnotationOCMComponentName]},
		},
		Spec: v1beta2.ManifestSpec{
			Remote: spec.Remote, Version: spec.Version, Install: spec.Install, AdditionalInstalls: spec.AdditionalInstalls, Config: spec.Config,
			CRDs: spec.CRDs, LocalizedImages: spec.LocalizedImages, Values: spec.Values, TargetNamespace: spec.TargetNamespace,
			KymaValues: spec.KymaValues,
		},
	}
	only.Status.Resolved = manifest.Status.Resolved
	return only.DeepCopy()
}

// hashOf returns equal hashes for clusters that look the same to a chart.
func hashOf(known runtimes.Capabilities) string {
	versions := slices.Sorted(slices.Values(known.APIVersions))
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, known.KubeVersion, "\n", versions)))
}
