package v1beta2

// Requirement is one thing that a version of a module needs before it is installed: a module, a definition in the cluster, or a version of
// Kubernetes.
//
// +kubebuilder:validation:XValidation:rule="[has(self.module), has(self.definition), has(self.kubernetes)].filter(x, x).size() == 1",message="set one of module, definition and kubernetes"
// +kubebuilder:validation:XValidation:rule="!has(self.version) || has(self.module)",message="version goes with module"
// +kubebuilder:validation:XValidation:rule="!has(self.served) || has(self.definition)",message="served goes with definition"
type Requirement struct {
	// Module that the Kyma must have, ready.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Module string `json:"module,omitempty"`

	// Version is a range that the module's version must be in, such as ">=1.20 <2"; any when empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`

	// Definition is the name of a CustomResourceDefinition that the cluster must have, such as "gateways.gateway.networking.k8s.io".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Definition string `json:"definition,omitempty"`

	// Served is a version that the definition must serve, such as "v1"; any when empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Served string `json:"served,omitempty"`

	// Kubernetes is a range that the cluster's version must be in, such as ">=1.31".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Kubernetes string `json:"kubernetes,omitempty"`
}
