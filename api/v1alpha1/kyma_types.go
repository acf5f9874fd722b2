package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Kyma declares which components the cluster has that it lives in.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="operator.kyma-project.io/v1alpha1 Kyma is deprecated; use v1beta2"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type Kyma struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec KymaSpec `json:"spec,omitempty"`
	// Status is v1beta2's, word for word: a write in this version must not lose any of it.
	Status v1beta2.KymaStatus `json:"status,omitempty,omitzero"`
}

// KymaList is a list of Kymas.
// +kubebuilder:object:root=true
type KymaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Kyma `json:"items"`
}

// KymaSpec is the desired state of a Kyma.
type KymaSpec struct {
	// Components to have, each by the name of its module. They follow the channel "regular".
	// +listType=map
	// +listMapKey=name
	// +optional
	Components []Component `json:"components,omitempty"`
}

// Component is one component of a Kyma: a module, as v1beta2 calls it.
type Component struct {
	// Name of the component: the name of its ModuleReleaseMeta.
	Name string `json:"name"`
}
