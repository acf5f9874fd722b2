package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Manifest installs one thing into one cluster. A Kyma makes one for each module; one without a Kyma stands alone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Module",type=string,JSONPath=".metadata.labels['operator\\.kyma-project\\.io/module-name']"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=".spec.version"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Kyma",type=string,priority=1,JSONPath=".metadata.labels['operator\\.kyma-project\\.io/kyma-name']"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type Manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ManifestSpec `json:"spec,omitempty"`

	// Status is what the manager observed. Before it has looked, it is of no generation, so that no client takes the object for settled.
	// +kubebuilder:default={"observedGeneration":-1,"state":""}
	Status ManifestStatus `json:"status,omitempty"`
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
	// Remote says where a stand-alone Manifest installs: true means the runtime of the access Secret, false means this cluster.
	// A Kyma's Manifest goes where its Kyma says; upstream writes false everywhere.
	Remote bool `json:"remote"`

	// CustomResourcePolicy says whether Resource is created and deleted with the module.
	// +kubebuilder:default=CreateAndDelete
	// +optional
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`

	// Version of the module.
	// +optional
	Version string `json:"version,omitempty"`

	// Config is a layer with values for the installations: "configs: [{name, overrides, clientConfig}]".
	// +optional
	Config *ImageSpec `json:"config,omitempty"`

	// Install is what to install.
	Install InstallInfo `json:"install"`

	// Resource is the module's default custom resource, created once.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:XEmbeddedResource
	// +nullable
	// +optional
	Resource *unstructured.Unstructured `json:"resource,omitempty"`

	// LocalizedImages are references that replace those of the content to the same images: where name (the last segment of the path) and
	// tag are equal.
	// +optional
	LocalizedImages []string `json:"localizedImages,omitempty"`

	// Manager is the object that runs the module's operator.
	// +optional
	Manager *Manager `json:"manager,omitempty"`

	// AssociatedResources are the kinds that users make objects of with the module, wherever their definitions come from: the Manifest is not
	// deleted while any exist.
	// +listType=atomic
	// +optional
	AssociatedResources []metav1.GroupVersionKind `json:"associatedResources,omitempty"`

	// AdditionalInstalls are installed after Install, in order.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	AdditionalInstalls []InstallInfo `json:"additionalInstalls,omitempty"`

	// CRDs are installed before anything else.
	// +optional
	CRDs *ImageSpec `json:"crds,omitempty"`

	// TargetNamespace is where namespaced objects go that name no namespace; default "default".
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`

	// Values for the installations that take values (helm-chart). What Config says of an installation goes before them.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Values *runtime.RawExtension `json:"values,omitempty"`

	// KymaValues are the values that the Kyma's entry of the module sets. They go before what Config says, and Values before them.
	// +optional
	KymaValues *EntryValues `json:"kymaValues,omitempty"`

	// Ownership says what happens to objects that exist already: default AdoptIfUnowned for a Kyma's Manifest, Prevent otherwise.
	// +optional
	Ownership Ownership `json:"ownership,omitempty"`

	// Probes are further conditions of readiness.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Probes []Probe `json:"probes,omitempty"`

	// AllowCRDChanges names CRD safety rules that may be broken by a change of this spec.
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	AllowCRDChanges []CRDRule `json:"allowCRDChanges,omitempty"`

	// CustomStateCheck maps values in the default custom resource to its state; the first that holds counts. Without it the state is
	// status.state.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	CustomStateCheck []CustomStateCheck `json:"customStateCheck,omitempty"`

	// ServiceAccountName names the ServiceAccount whose rights everything is read, written and deleted with that this Manifest installs. It is
	// one of the namespace kyma-system in a runtime, and one of the Manifest's own namespace in the hub itself. Without it the operator's
	// rights in that cluster count.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// Ownership says what happens when an object exists that the Manifest did not make.
// +kubebuilder:validation:Enum=Prevent;AdoptIfUnowned;Adopt
type Ownership string

const (
	// OwnershipPrevent leaves the object alone and reports it.
	OwnershipPrevent Ownership = "Prevent"
	// OwnershipAdoptIfUnowned takes it over unless another owner is marked on it.
	OwnershipAdoptIfUnowned Ownership = "AdoptIfUnowned"
	// OwnershipAdopt takes it over.
	OwnershipAdopt Ownership = "Adopt"
)

// Probe is a CEL expression over an object that must be true.
type Probe struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Group and Kind of the objects that the expression is asked of.
	// +optional
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	// Expression over the variable self.
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression"`
	// Message when it is false.
	// +optional
	Message string `json:"message,omitempty"`
}

// InstallInfo names a source to install.
type InstallInfo struct {
	// Source is an ImageSpec, or one of the other places that docs/spec/sources.md tells.
	// +kubebuilder:pruning:PreserveUnknownFields
	Source runtime.RawExtension `json:"source"`
	// Name of the installation.
	Name string `json:"name"`
}

// RefType says what an ImageSpec refers to.
type RefType string

const (
	// RefTypeOCI is a layer that is plain YAML.
	RefTypeOCI RefType = "oci-ref"
	// RefTypeOCIDir is a layer that is a tar archive whose first regular file is YAML.
	RefTypeOCIDir RefType = "oci-dir"
	// RefTypeHelmChart is a Helm chart.
	RefTypeHelmChart RefType = "helm-chart"
	// RefTypeKustomize is a kustomization.
	RefTypeKustomize RefType = "kustomize"
	// RefTypeBundle is a plain bundle.
	RefTypeBundle RefType = "bundle"
)

// ImageSpec refers to content in an OCI registry.
type ImageSpec struct {
	// Repo is registry and path, such as "registry.example.com/component-descriptors".
	// +optional
	Repo string `json:"repo,omitempty"`
	// Name is appended to Repo.
	// +optional
	Name string `json:"name,omitempty"`
	// Ref is a digest.
	// +optional
	Ref string `json:"ref,omitempty"`
	// Type of the content.
	// +kubebuilder:validation:Enum=helm-chart;oci-ref;oci-dir;kustomize;bundle;""
	// +optional
	Type RefType `json:"type,omitempty"`
	// CredSecretSelector finds a Secret with registry credentials.
	// +optional
	CredSecretSelector *metav1.LabelSelector `json:"credSecretSelector,omitempty"`
}

// ManifestStatus is the observed state of a Manifest.
type ManifestStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks of; -1 before there is one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// State sums up the installation in one word.
	State State `json:"state"`

	// Conditions: Ready sums up; Resources, Installation and ModuleCR tell how far it is.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Synced is the inventory: every object that is installed or about to be.
	// +listType=atomic
	// +optional
	Synced []Resource `json:"synced,omitempty"`

	// InventoryShards name the Secrets that hold the rest of a large inventory.
	// +listType=atomic
	// +optional
	InventoryShards []string `json:"inventoryShards,omitempty"`

	// AppliedGeneration is the generation of the spec that the hashes in synced tell about. A newer one may have been applied in part.
	// +optional
	AppliedGeneration int64 `json:"appliedGeneration,omitempty"`

	// InstalledVersion is the version of the module that was last brought up completely. It stays what it is while spec.version, which is
	// asked for, is refused or under way.
	// +optional
	InstalledVersion string `json:"installedVersion,omitempty"`

	// Revisions are the last three things that the Manifest was asked to install, newest last, and before them the last one that succeeded and
	// the last one that failed.
	// +kubebuilder:validation:MaxItems=5
	// +listType=map
	// +listMapKey=number
	// +optional
	Revisions []Revision `json:"revisions,omitempty"`

	// Resolved tells which content each source was resolved to.
	// +listType=map
	// +listMapKey=name
	// +optional
	Resolved []ResolvedSource `json:"resolved,omitempty"`

	// ImagePullSecret is the Secret that the operator added to the workloads and to the environment of the module's own operator.
	// +optional
	ImagePullSecret string `json:"imagePullSecret,omitempty"`

	// Injected are the Secrets of the hub whose data was put into Secrets of the content.
	// +listType=map
	// +listMapKey=name
	// +optional
	Injected []InjectedSecret `json:"injected,omitempty"`

	// Signature tells who signed what is installed; condition Signed says what that is worth. None where no policy asks for signatures.
	// +optional
	Signature *SignatureStatus `json:"signature,omitempty"`

	// ResourceState is what the module's own CR reports in its status.state.
	// +optional
	ResourceState State `json:"resourceState,omitempty"`

	// ResourceMessage goes with ResourceState.
	// +optional
	ResourceMessage string `json:"resourceMessage,omitempty"`

	// +optional
	LastOperation `json:"lastOperation,omitzero"`
}

// Resource is one object of the inventory. Group, version, kind, name and namespace are upstream's; the rest is optional.
type Resource struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// UID of the object; empty while it is only planned.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// Hash of the content that was last applied; empty while it is only planned.
	// +optional
	Hash string `json:"hash,omitempty"`
	// Fields is a hash of the fields that the operator owned after its last write: drift shows as a difference.
	// +optional
	Fields string `json:"fields,omitempty"`
}

// InjectedSecret is a Secret of the hub, in the Manifest's namespace.
type InjectedSecret struct {
	// Name of the Secret.
	Name string `json:"name"`
	// ResourceVersion that was put in.
	ResourceVersion string `json:"resourceVersion"`
}

// ResolvedSource tells which content a source was resolved to.
type ResolvedSource struct {
	// Name of the installation.
	Name string `json:"name"`
	// Reference as it was requested.
	Reference string `json:"reference"`
	// Digest of the content.
	// +optional
	Digest string `json:"digest,omitempty"`
	// MediaType of the content.
	// +optional
	MediaType string `json:"mediaType,omitempty"`
	// Version is the chart version or the git commit that was chosen.
	// +optional
	Version string `json:"version,omitempty"`
	// Moved is the digest that the reference names by now, when it is another one. It is reported and not followed.
	// +optional
	Moved string `json:"moved,omitempty"`
	// ContentURL is where the unpacked content can be read.
	// +optional
	ContentURL string `json:"contentURL,omitempty"`
	// Hooks is how far the hooks of a chart have got; absent where it has none.
	// +optional
	Hooks *HookProgress `json:"hooks,omitempty"`
}

// HookProgress is the position of a release in the hooks of its chart.
type HookProgress struct {
	// Release is a hash of what the chart declares with its values: hooks run once for each.
	Release string `json:"release"`
	// Revision counts the releases of the source from 1.
	Revision int64 `json:"revision"`
	// Event whose hooks run, or have run last: "pre-install", "post-upgrade" and so on.
	Event string `json:"event"`
	// Done of Total hooks of the event have completed.
	Done  int32 `json:"done"`
	Total int32 `json:"total"`
	// OnDelete: the chart has hooks for its removal.
	// +optional
	OnDelete bool `json:"onDelete,omitempty"`
}
