package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State sums up an object in one word.
// +kubebuilder:validation:Enum=Processing;Deleting;Ready;Error;"";Warning;Unmanaged
type State string

// The states that a Kyma, a module and a Manifest can be in.
const (
	StateReady      State = "Ready"
	StateProcessing State = "Processing"
	StateError      State = "Error"
	StateDeleting   State = "Deleting"
	StateWarning    State = "Warning"
	StateUnmanaged  State = "Unmanaged"
)

// Severity orders states by how much they need a user: 0 for Ready and Unmanaged, 1 for Processing, Deleting and states of other versions
// of the API, 2 for Warning, 3 for Error.
func (s State) Severity() int {
	switch s {
	case StateError:
		return 3
	case StateWarning:
		return 2
	case StateReady, StateUnmanaged:
		return 0
	default:
		return 1
	}
}

// CustomResourcePolicy says what happens to a module's default custom resource.
// +kubebuilder:validation:Enum=CreateAndDelete;Ignore
type CustomResourcePolicy string

const (
	// CustomResourcePolicyCreateAndDelete creates the default CR with the module and deletes it with the module.
	CustomResourcePolicyCreateAndDelete CustomResourcePolicy = "CreateAndDelete"
	// CustomResourcePolicyIgnore leaves custom resources to the user.
	CustomResourcePolicyIgnore CustomResourcePolicy = "Ignore"
)

// CRDRule names one CRD safety rule that may be broken by an upgrade.
// +kubebuilder:validation:Enum=ScopeChanged;NamesChanged;StoredVersionRemoved;VersionRemoved;FieldRemoved;TypeChanged;EnumNarrowed;BoundNarrowed;RequiredAdded;DefaultChanged;ValidationRuleAdded;PreserveUnknownFieldsRemoved;ListTypeChanged;NullableRemoved;UnknownChange;ObjectInvalid
type CRDRule string

// Readiness says what must be ready before a module counts as ready.
// +kubebuilder:validation:Enum=Workloads;ModuleCR;Both
type Readiness string

const (
	// ReadinessWorkloads counts the installed objects only, as upstream does.
	ReadinessWorkloads Readiness = "Workloads"
	// ReadinessModuleCR counts the state that the module's own CR reports.
	ReadinessModuleCR Readiness = "ModuleCR"
	// ReadinessBoth counts both; the worse one wins.
	ReadinessBoth Readiness = "Both"
)

// LastOperation is the latest thing that happened to an object.
type LastOperation struct {
	// Operation in words.
	Operation string `json:"operation"`
	// LastUpdateTime is when it was last written.
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitzero"`
}

// Manager identifies the object (usually a Deployment) that runs a module's operator.
type Manager struct {
	metav1.GroupVersionKind `json:",inline"`
	// Namespace of the object; empty for cluster-scoped ones.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the object.
	Name string `json:"name"`
}

// TrackingObject points to an object that a module status speaks of.
type TrackingObject struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	PartialMeta `json:"metadata,omitempty"`
}

// PartialMeta is the part of an object's metadata that identifies it.
type PartialMeta struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Generation of the object when the status was written.
	// +optional
	Generation int64 `json:"generation,omitempty"`
}

// Named is a link with a name.
type Named struct {
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Link is a URI.
	// +kubebuilder:validation:Format=uri
	Link string `json:"link"`
}

// SignatureStatus is what was found out about the signatures of a component version.
type SignatureStatus struct {
	// Policy tells policies apart: it is another one after each change of what is asked of the component.
	Policy string `json:"policy"`
	// Require is off, audit or enforce: what the policy does with what is not covered.
	Require string `json:"require"`
	// Reason is that of condition Signed: Verified, or why what is installed is not covered.
	Reason string `json:"reason"`
	// Digest is that of the descriptor's signed part.
	// +optional
	Digest string `json:"digest,omitempty"`
	// Signers made signatures that hold.
	// +listType=atomic
	// +optional
	Signers []SignerStatus `json:"signers,omitempty"`
	// VerifiedAt is when that was found out.
	VerifiedAt metav1.Time `json:"verifiedAt"`
}

// SignerStatus is who made a signature.
type SignerStatus struct {
	// Name of the signature.
	Name string `json:"name"`
	// Key is the SHA-256 fingerprint of the signer's public key.
	Key string `json:"key"`
	// Algorithm of the signature.
	Algorithm string `json:"algorithm"`
	// Subject and Issuer of the signer's certificate, where it has one.
	// +optional
	Subject string `json:"subject,omitempty"`
	// +optional
	Issuer string `json:"issuer,omitempty"`
	// Until is when the certificate expires.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}
