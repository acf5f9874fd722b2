package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModuleReleaseMeta says which version of a module each channel offers. Its name is the module's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=modulereleasemetas,shortName=mrm
// +kubebuilder:printcolumn:name="Component",type=string,JSONPath=".spec.ocmComponentName"
// +kubebuilder:printcolumn:name="Mandatory",type=string,JSONPath=".spec.mandatory.version"
// +kubebuilder:printcolumn:name="Channels",type=string,JSONPath=".spec.channels"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type ModuleReleaseMeta struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ModuleReleaseMetaSpec `json:"spec,omitempty"`
}

// ModuleReleaseMetaList is a list of ModuleReleaseMetas.
// +kubebuilder:object:root=true
type ModuleReleaseMetaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModuleReleaseMeta `json:"items"`
}

// ModuleReleaseMetaSpec maps channels to versions.
//
// +kubebuilder:validation:XValidation:rule="has(self.channels) != has(self.mandatory)",message="exactly one of channels and mandatory must be set"
type ModuleReleaseMetaSpec struct {
	// ModuleName is the name of the module.
	// +kubebuilder:validation:Pattern=`^([a-z]{3,}(-[a-z]{3,})*)?$`
	// +kubebuilder:validation:MaxLength=64
	ModuleName string `json:"moduleName"`

	// OCMComponentName is the component that holds the module's versions. A module without it cannot be installed.
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z][-a-z0-9]*([.][a-z][-a-z0-9]*)*[.][a-z]{2,}(/[a-z][-a-z0-9_]*([.][a-z][-a-z0-9_]*)*)+$`
	// +optional
	OCMComponentName string `json:"ocmComponentName,omitempty"`

	// Channels by name.
	// +listType=map
	// +listMapKey=channel
	// +optional
	Channels []ChannelVersion `json:"channels,omitempty"`

	// Mandatory makes this a module that every Kyma has.
	// +optional
	Mandatory *Mandatory `json:"mandatory,omitempty"`

	// Beta is deprecated upstream: accepted and ignored; the label on the ModuleTemplate counts.
	// +optional
	Beta bool `json:"beta,omitempty"`

	// Internal is deprecated upstream: accepted and ignored; the label on the ModuleTemplate counts.
	// +optional
	Internal bool `json:"internal,omitempty"`

	// KymaSelector restricts the module to the Kymas whose labels match.
	// +optional
	KymaSelector *metav1.LabelSelector `json:"kymaSelector,omitempty"`
}

// ChannelVersion is the version that a channel offers.
type ChannelVersion struct {
	// Channel name.
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	Channel string `json:"channel"`
	// Version that the channel offers.
	// +kubebuilder:validation:Pattern=`^((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?)?$`
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version"`

	// ForceAfter is how long this version waits for consent that only a module's upgradeStrategy asks for; without it, for ever. Consent that
	// the approval policy asks for, rollouts and maintenance windows are not shortened by it.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m')",message="forceAfter must be at least 1m"
	// +optional
	ForceAfter *metav1.Duration `json:"forceAfter,omitempty"`
}

// Mandatory is the version of a mandatory module.
type Mandatory struct {
	// Version as full semantic version.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-((0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+([0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*))?$`
	Version string `json:"version"`
}
