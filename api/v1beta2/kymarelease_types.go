package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KymaRelease is a set of module versions that were tested together. A Kyma of its namespace that names it in spec.release gets its modules
// in these versions. The set cannot be changed: a name always means the same.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=krel
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Kymas",type=integer,JSONPath=".status.kymas"
// +kubebuilder:printcolumn:name="On it",type=integer,JSONPath=".status.kymasOnRelease"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type KymaRelease struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a release is immutable: create another one instead"
	Spec KymaReleaseSpec `json:"spec"`

	// Status is what the manager observed. Before it has looked, it is of no generation, so that no client takes the object for settled.
	// +kubebuilder:default={"observedGeneration":-1}
	Status KymaReleaseStatus `json:"status,omitempty"`
}

// KymaReleaseList is a list of KymaReleases.
// +kubebuilder:object:root=true
type KymaReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KymaRelease `json:"items"`
}

// KymaReleaseSpec is the set of versions.
type KymaReleaseSpec struct {
	// Modules of the release. It says in which version a Kyma has them, not which of them a Kyma has.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=name
	Modules []ReleasedModule `json:"modules"`
}

// ReleasedModule is one module of a release.
type ReleasedModule struct {
	// Name of the module: the name of its ModuleReleaseMeta.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Version of the module.
	// +kubebuilder:validation:Pattern=`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?$`
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version"`
}

// KymaReleaseStatus is what is known of a release.
type KymaReleaseStatus struct {
	// ObservedGeneration is the generation that this status speaks of; -1 before there is one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Kymas counts the Kymas that name the release.
	// +optional
	Kymas int32 `json:"kymas"`

	// KymasOnRelease counts those of them whose modules were all ready with it: their status.release is its name.
	// +optional
	KymasOnRelease int32 `json:"kymasOnRelease"`

	// MissingTemplates are the names of the ModuleTemplates that the release needs and that do not exist, the first 32.
	// +listType=atomic
	// +optional
	MissingTemplates []string `json:"missingTemplates,omitempty"`

	// UnmetRequirements are what its modules require of each other and the set does not meet by itself, the first 32.
	// +listType=atomic
	// +optional
	UnmetRequirements []string `json:"unmetRequirements,omitempty"`

	// Conditions: Ready says whether all templates exist and fit together.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// VersionOf returns the version that the release has of a module, empty when it does not have it.
func (r *KymaRelease) VersionOf(module string) string {
	for i := range r.Spec.Modules {
		if r.Spec.Modules[i].Name == module {
			return r.Spec.Modules[i].Version
		}
	}
	return ""
}
