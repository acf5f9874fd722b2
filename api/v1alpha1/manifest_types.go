package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Manifest installs a list of Helm charts into one cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="operator.kyma-project.io/v1alpha1 Manifest is deprecated; use v1beta2"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type Manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ManifestSpec `json:"spec,omitempty"`
	// Status is v1beta2's, word for word: it holds the record of what is installed, which a write in this version must not lose.
	Status v1beta2.ManifestStatus `json:"status,omitempty,omitzero"`
}

// ManifestList is a list of Manifests.
// +kubebuilder:object:root=true
type ManifestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Manifest `json:"items"`
}

// ManifestSpec is what to install and where.
type ManifestSpec struct {
	// Remote is true for the runtime that the access Secret leads to, false for the cluster that this Manifest lives in.
	// +kubebuilder:default=true
	// +optional
	Remote bool `json:"remote"`

	// Resource is a custom resource that is created with the installations.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:XEmbeddedResource
	// +nullable
	// +optional
	Resource *unstructured.Unstructured `json:"resource,omitempty"`

	// Installs are what to install, in order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=33
	// +listType=map
	// +listMapKey=name
	Installs []InstallInfo `json:"installs"`

	// Config is a layer with values for the installations.
	// +optional
	Config *v1beta2.ImageSpec `json:"config,omitempty"`

	// CRDs is a layer with definitions, which are installed before anything else.
	// +optional
	CRDs *v1beta2.ImageSpec `json:"crds,omitempty"`
}

// InstallInfo names a chart to install.
type InstallInfo struct {
	// Source is a layer of a registry (name, repo, ref; type "oci-ref" means a Helm chart), a chart of a Helm repository (chartName, url;
	// type "helm-chart"), or whatever v1beta2 knows.
	// +kubebuilder:pruning:PreserveUnknownFields
	Source runtime.RawExtension `json:"source"`
	// Name of the installation.
	Name string `json:"name"`
}
