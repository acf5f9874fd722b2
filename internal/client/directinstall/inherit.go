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
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// generatedSecret returns the name of the Secret with what the module's charts have generated, where that is one of a Manifest: of one whose
// place this installation has taken, or takes now. It is empty otherwise.
func (c *installing) generatedSecret(ctx context.Context) (string, error) {
	if c.loaded.component == "" {
		return "", nil
	}
	if c.record != nil {
		for _, entry := range c.record.Entries {
			if entry.Kind == "Secret" && entry.Namespace == modulestatus.DirectNamespace && c.isOfManifest(entry.Name) {
				return entry.Name, nil
			}
		}
	}
	if !c.plan.Adopt {
		return "", nil
	}
	return c.findLeft(ctx)
}

// isOfManifest reports whether a Secret is that of a Manifest of the module, whatever the Kyma is called.
func (c *installing) isOfManifest(secret string) bool {
	return strings.HasSuffix(secret, installable.GeneratedName(module.ManifestName("", c.loaded.component, c.module)))
}

// findLeft returns the name of the one Secret that Manifests of the module have left behind; empty where there is none, or more than one,
// so that it is not known whose values the module has.
func (c *installing) findLeft(ctx context.Context) (string, error) {
	var secrets metav1.PartialObjectMetadataList
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := c.cluster.Client.List(ctx, &secrets, client.InNamespace(modulestatus.DirectNamespace)); err != nil {
		return "", err
	}
	var found []string
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		marks := &unstructured.Unstructured{}
		marks.SetLabels(secret.Labels)
		marks.SetAnnotations(secret.Annotations)
		free := installable.ClaimedByManifest(marks) == "" && secret.Annotations[installer.DefaultOwnerKey] == ""
		if free && c.isOfManifest(secret.Name) {
			found = append(found, secret.Name)
		}
	}
	if len(found) != 1 {
		return "", nil
	}
	return found[0], nil
}
