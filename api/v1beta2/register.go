package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "operator.kyma-project.io", Version: "v1beta2"}

	// SchemeBuilder collects the kinds of this package.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme makes the kinds of this package known to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Kyma{}, &KymaList{},
		&ModuleTemplate{}, &ModuleTemplateList{},
		&ModuleReleaseMeta{}, &ModuleReleaseMetaList{},
		&Manifest{}, &ManifestList{},
		&ModuleRollout{}, &ModuleRolloutList{},
		&KymaRelease{}, &KymaReleaseList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
