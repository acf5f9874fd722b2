package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ModuleTemplate describes one version of a module. Its name is "<module>-<version>".
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=mt
// +kubebuilder:printcolumn:name="Module",type=string,JSONPath=".spec.moduleName"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=".spec.version"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type ModuleTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ModuleTemplateSpec `json:"spec,omitempty"`
}

// ModuleTemplateList is a list of ModuleTemplates.
// +kubebuilder:object:root=true
type ModuleTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModuleTemplate `json:"items"`
}

// ModuleTemplateSpec describes one version of a module.
type ModuleTemplateSpec struct {
	// Channel is deprecated upstream: accepted and ignored; channels stand in the ModuleReleaseMeta.
	// +kubebuilder:validation:Pattern=`^$|^[a-z]{3,}$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Channel string `json:"channel,omitempty"`

	// Version of the module.
	// +kubebuilder:validation:Pattern=`^((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?)?$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Version string `json:"version,omitempty"`

	// ModuleName is the name of the module's ModuleReleaseMeta.
	// +kubebuilder:validation:Pattern=`^([a-z]{3,}(-[a-z]{3,})*)?$`
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ModuleName string `json:"moduleName,omitempty"`

	// Mandatory is deprecated upstream in favour of the ModuleReleaseMeta's mandatory; a mandatory module cannot be enabled by a Kyma.
	// +optional
	Mandatory bool `json:"mandatory,omitempty"`

	// Data is the module's default custom resource.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:XEmbeddedResource
	// +optional
	Data *unstructured.Unstructured `json:"data,omitempty"`

	// Descriptor is ignored; upstream requires it, so that {} is accepted here too.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Descriptor runtime.RawExtension `json:"descriptor,omitempty"`

	// CustomStateCheck maps values in the default custom resource to its state, in place of status.state; the first that holds counts.
	// Upstream ignores it.
	// +optional
	CustomStateCheck []CustomStateCheck `json:"customStateCheck,omitempty"`

	// Resources are links that belong to the module, such as its raw manifest.
	// +listType=map
	// +listMapKey=name
	// +optional
	Resources []Named `json:"resources,omitempty"`

	// Info for users.
	// +optional
	Info *ModuleInfo `json:"info,omitempty"`

	// AssociatedResources are the kinds that a user makes with this module.
	// It is not deleted while objects of them exist.
	// +optional
	AssociatedResources []metav1.GroupVersionKind `json:"associatedResources,omitempty"`

	// Manager is the object that runs the module's operator.
	// +optional
	Manager *Manager `json:"manager,omitempty"`

	// RequiresDowntime makes an upgrade to this version wait for a maintenance window.
	// +optional
	RequiresDowntime bool `json:"requiresDowntime,omitempty"`

	// RollbackTo is a range of versions, such as ">=1.2.0 <2": the module's author vouches that each of them can take over from this one.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	RollbackTo string `json:"rollbackTo,omitempty"`

	// Requires lists what this version needs before it is installed. A component version can list more (label requires of the component).
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Requires []Requirement `json:"requires,omitempty"`

	// Readiness says what must be ready before the module counts as ready.
	// +kubebuilder:default=Workloads
	// +optional
	Readiness Readiness `json:"readiness,omitempty"`

	// AllowCRDChanges names CRD safety rules that an upgrade to this version may break.
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	AllowCRDChanges []CRDRule `json:"allowCRDChanges,omitempty"`

	// ServiceAccountName names the ServiceAccount that installs this version, where its Kyma names none: see the same field of a Manifest.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// CustomStateCheck maps a value in the module's CR to a state.
type CustomStateCheck struct {
	// JSONPath of the value in the CR.
	JSONPath string `json:"jsonPath"`
	// Value to compare with.
	Value string `json:"value"`
	// MappedState is the state when they are equal.
	MappedState State `json:"mappedState"`
}

// ModuleInfo points users to more about a module.
type ModuleInfo struct {
	// Repository is the URL of the source code.
	Repository string `json:"repository"`
	// Documentation is the URL of the documentation.
	Documentation string `json:"documentation"`
	// Icons by name.
	// +listType=map
	// +listMapKey=name
	// +optional
	Icons []Named `json:"icons,omitempty"`
}
