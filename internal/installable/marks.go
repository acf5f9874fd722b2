package installable

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Owner returns the mark of a Manifest on the objects that it installs.
func Owner(manifest *v1beta2.Manifest) string { return manifest.Namespace + "/" + manifest.Name }

// Marks returns the labels and annotations that the objects of a Manifest get.
func Marks(manifest *v1beta2.Manifest) render.Marks {
	return render.Marks{
		Labels: map[string]string{
			v1beta2.LabelManagedBy: v1beta2.ManagedByKyma, // the streams select by it
		},
		Defaults: map[string]string{ // operators and monitors of the content may select by their own
			v1beta2.LabelComponent: manifest.Name,
			v1beta2.LabelPartOf:    v1beta2.PartOfKyma,
		},
		Annotations: map[string]string{
			v1beta2.AnnotationOwnedBy:    Owner(manifest),
			v1beta2.AnnotationDisclaimer: v1beta2.DisclaimerText,
		},
	}
}

// ManagerIn returns the module's own operator; nil when the spec names none. A manager without namespace matches by kind and name.
func ManagerIn(objects []*unstructured.Unstructured, manager *v1beta2.Manager) *inventory.ID {
	if manager == nil {
		return nil
	}
	id := inventory.ID{Group: manager.Group, Kind: manager.Kind, Namespace: manager.Namespace, Name: manager.Name}
	for _, object := range objects {
		found := inventory.IDOf(object)
		if id.Namespace == "" && found.GroupKind() == id.GroupKind() && found.Name == id.Name {
			id.Namespace = found.Namespace
		}
	}
	return &id
}
