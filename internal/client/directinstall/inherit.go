package directinstall

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// inheritedSecret returns the name of the Secret with what the module's charts have generated, where that is one of a Manifest that let
// go of the module, and whose place this installation takes now. It is empty where there is none; the record knows it afterwards.
func (c *installing) inheritedSecret(ctx context.Context) (string, error) {
	if !c.plan.Adopt || c.loaded.component == "" || c.record != nil && c.record.GeneratedSecret != "" {
		return "", nil
	}
	var secrets metav1.PartialObjectMetadataList
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := c.cluster.Client.List(ctx, &secrets, client.InNamespace(modulestatus.DirectNamespace)); err != nil {
		return "", err
	}
	own := installable.GeneratedName(prefix + c.module)
	var left []string
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		if isFree(secret) && (secret.Name == own || c.isOfManifest(secret.Name)) {
			left = append(left, secret.Name)
		}
	}
	switch len(left) {
	case 0:
		return "", nil
	case 1:
		return left[0], nil
	}
	return "", refuse(content.ReasonGeneratedValuesLost, "the Secrets %s of namespace %s all have what charts of module %s have generated, "+
		"and only one of them is that of the module which is installed: delete the others",
		strings.Join(left, ", "), modulestatus.DirectNamespace, c.module)
}

// isFree reports whether no installer has a Secret.
func isFree(secret *metav1.PartialObjectMetadata) bool {
	marks := &unstructured.Unstructured{}
	marks.SetLabels(secret.Labels)
	marks.SetAnnotations(secret.Annotations)
	return installable.ClaimedByManifest(marks) == "" && secret.Annotations[installer.DefaultOwnerKey] == "" && secret.DeletionTimestamp == nil
}

// isOfManifest reports whether a Secret is that of a Manifest of the module, whatever the Kyma is called.
func (c *installing) isOfManifest(secret string) bool {
	manifest, ok := strings.CutSuffix(secret, installable.GeneratedName(""))
	for i, char := range manifest {
		if ok && char == '-' && module.ManifestName(manifest[:i], c.loaded.component, c.module) == manifest {
			return true
		}
	}
	return false
}
