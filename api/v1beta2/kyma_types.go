package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Kyma declares which modules a managed cluster (a runtime) has.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Channel",type=string,JSONPath=".spec.channel"
// +kubebuilder:printcolumn:name="Modules",type=string,JSONPath=".status.modulesReady"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Release",type=string,priority=1,JSONPath=".spec.release"
// +kubebuilder:printcolumn:name="Remote",type=boolean,priority=1,JSONPath=".spec.remote"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type Kyma struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec KymaSpec `json:"spec,omitempty"`

	// Status is what the manager observed. Before it has looked, it is of no generation, so that no client takes the object for settled.
	// +kubebuilder:default={"observedGeneration":-1}
	Status KymaStatus `json:"status,omitempty"`
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
	// Channel that modules follow unless they say another one.
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	Channel string `json:"channel"`

	// Release is the name of the KymaRelease in the Kyma's namespace that says which version each module has which names neither a channel nor
	// a version of its own. With it, the channel above counts for none of them. It counts in the hub's Kyma only.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	Release string `json:"release,omitempty"`

	// SkipMaintenanceWindows lets upgrades with downtime start at once.
	// +optional
	SkipMaintenanceWindows bool `json:"skipMaintenanceWindows,omitempty"`

	// Remote says where modules go: true means the runtime that the access Secret leads to, false means the cluster
	// that this Kyma lives in. It cannot be changed after creation.
	// +kubebuilder:default=true
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="remote is immutable: create another Kyma instead"
	// +optional
	Remote *bool `json:"remote,omitempty"`

	// Modules to have.
	// +listType=map
	// +listMapKey=name
	// +optional
	Modules []Module `json:"modules,omitempty"`

	// Readiness says what must be ready before a module of this Kyma counts as ready, in place of what the module's template says.
	// +optional
	Readiness Readiness `json:"readiness,omitempty"`

	// ServiceAccountName names the ServiceAccount that installs the modules of this Kyma, in place of the one that a module's template names:
	// one of the namespace kyma-system in a runtime, and one of the Kyma's own namespace in the hub itself. Mandatory modules are installed by
	// that of their template. It counts in the hub's Kyma only.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// Module is one module of a Kyma.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.channel) && has(self.version))",message="channel and version are exclusive: set one of them"
type Module struct {
	// Name of the module: the name of its ModuleReleaseMeta.
	Name string `json:"name"`

	// ControllerName is informational.
	// +optional
	ControllerName string `json:"controller,omitempty"`

	// Channel overrides the Kyma's channel for this module.
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Channel string `json:"channel,omitempty"`

	// Version pins an exact version instead of following a channel.
	// +kubebuilder:validation:Pattern=`^((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?)?$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Version string `json:"version,omitempty"`

	// RemoteModuleTemplateRef is deprecated upstream: accepted and ignored.
	// +optional
	RemoteModuleTemplateRef string `json:"remoteModuleTemplateRef,omitempty"`

	// CustomResourcePolicy says whether the default CR is created and deleted with the module.
	// +kubebuilder:default=CreateAndDelete
	// +optional
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`

	// Managed set to false lets go of the module and leaves its objects running.
	// +kubebuilder:default=true
	// +optional
	Managed *bool `json:"managed,omitempty"`

	// AllowCRDChanges names CRD safety rules that an upgrade of this module may break.
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	AllowCRDChanges []CRDRule `json:"allowCRDChanges,omitempty"`

	// OnFailedUpgrade says what happens when an upgrade of this module is not ready within its progressDeadline: None, which is the default,
	// leaves it; Rollback installs the version before, if its author or a person vouches for that way. It counts where it is set: in the hub's
	// Kyma, otherwise in the runtime's.
	// +optional
	OnFailedUpgrade FailedUpgradeAction `json:"onFailedUpgrade,omitempty"`

	// ProgressDeadline is how long an upgrade of this module may take before onFailedUpgrade applies; default 30m.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s')",message="progressDeadline must be at least 10s"
	// +optional
	ProgressDeadline *metav1.Duration `json:"progressDeadline,omitempty"`

	// Avoid is a version that a person went back from: "<version>@<digest>". While the module's channel or version leads to it, the last
	// version that succeeded before is installed.
	// +kubebuilder:validation:Pattern=`^([0-9A-Za-z.+-]+@sha256:[0-9a-f]{64})?$`
	// +kubebuilder:validation:MaxLength=160
	// +optional
	Avoid string `json:"avoid,omitempty"`

	// BackTo is the number of the revision that is installed in place of what avoid names; without it, the last one that succeeded is.
	// +kubebuilder:validation:Minimum=0
	// +optional
	BackTo int64 `json:"backTo,omitempty"`

	// Retry is the number of a revision that went back by itself: the version that it and earlier ones had is tried once more.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retry int64 `json:"retry,omitempty"`

	// UpgradeStrategy says how the module follows its channel: Automatic, which is the default, or Manual: a version that the channel offers
	// waits until approved names it. Hub and runtime each speak for themselves: what one of them holds, the other cannot release.
	// +optional
	UpgradeStrategy UpgradeStrategy `json:"upgradeStrategy,omitempty"`

	// Approved is the version that a person agreed to: "<version>@<digest>", as status.modules[].pending names it.
	// +kubebuilder:validation:Pattern=`^([0-9A-Za-z.+-]+@sha256:[0-9a-f]{64})?$`
	// +kubebuilder:validation:MaxLength=160
	// +optional
	Approved string `json:"approved,omitempty"`

	// Values for the charts of the module, over those of the module itself and of valuesFrom: at most 8 KiB as JSON, without null. Other
	// values are another revision of the module.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Values *runtime.RawExtension `json:"values,omitempty"`

	// ValuesFrom names Secrets and ConfigMaps beside the Kyma on the hub that hold values; a later one goes before an earlier one. The Kyma in
	// a runtime must not have any.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`
}

// FailedUpgradeAction says what happens when an upgrade fails.
// +kubebuilder:validation:Enum=None;Rollback
type FailedUpgradeAction string

const (
	// FailedUpgradeNone leaves the new version, for a person to look at.
	FailedUpgradeNone FailedUpgradeAction = "None"
	// FailedUpgradeRollback installs the version before.
	FailedUpgradeRollback FailedUpgradeAction = "Rollback"
)

// KymaStatus is the observed state of a Kyma.
type KymaStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks of; -1 before there is one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// State sums up all modules in one word.
	// +optional
	State State `json:"state,omitempty"`

	// ModulesReady counts modules, ready of all, such as "3/4".
	// +optional
	ModulesReady string `json:"modulesReady,omitempty"`

	// ActiveChannel is the channel that was last seen fully installed.
	// +optional
	ActiveChannel string `json:"activeChannel,omitempty"`

	// Release is the last release of which every module that follows it was ready, while the spec names one: it differs from spec.release
	// until all of them have got there.
	// +optional
	Release string `json:"release,omitempty"`

	// RuntimeID is the UID of the namespace kube-system of the runtime, once it was seen: another cluster is not taken for it.
	// +optional
	RuntimeID string `json:"runtimeID,omitempty"`

	// LastSeen are the specs of both sides, hub and runtime, as they were last taken notice of: the base that tells who changed what.
	// +optional
	LastSeen *LastSeen `json:"lastSeen,omitempty"`

	// Conditions: Ready sums up, Modules speaks of the modules.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Modules, one entry for each that is wanted or still there.
	// +optional
	Modules []ModuleStatus `json:"modules,omitempty"`

	// +optional
	LastOperation `json:"lastOperation,omitzero"`
}

// LastSeen is what was last seen of the two specs of a remote Kyma.
type LastSeen struct {
	// Hub is what the Kyma on the hub asked for.
	// +optional
	Hub *SeenSpec `json:"hub,omitempty"`

	// Runtime is what the Kyma in the runtime asked for.
	// +optional
	Runtime *SeenSpec `json:"runtime,omitempty"`

	// Overruled are changes made on the hub that did not come through, because the runtime's user had changed the same:
	// "channel", "skipMaintenanceWindows" or "module <name>".
	// +listType=atomic
	// +optional
	Overruled []string `json:"overruled,omitempty"`
}

// SeenSpec is the part of a Kyma's spec that two users may edit: one on the hub, one in the runtime.
type SeenSpec struct {
	// +optional
	Channel string `json:"channel,omitempty"`
	// +optional
	SkipMaintenanceWindows bool `json:"skipMaintenanceWindows,omitempty"`
	// +listType=atomic
	// +optional
	Modules []SeenModule `json:"modules,omitempty"`
}

// SeenModule is an entry of spec.modules as it was seen.
type SeenModule struct {
	Name string `json:"name"`
	// +optional
	ControllerName string `json:"controller,omitempty"`
	// +optional
	Channel string `json:"channel,omitempty"`
	// +optional
	Version string `json:"version,omitempty"`
	// +optional
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`
	// +optional
	Managed *bool `json:"managed,omitempty"`
	// +listType=atomic
	// +optional
	AllowCRDChanges []CRDRule `json:"allowCRDChanges,omitempty"`
	// Values are those of the entry, as JSON.
	// +optional
	Values string `json:"values,omitempty"`
}

// ModuleStatus is the observed state of one module.
type ModuleStatus struct {
	// Name of the module.
	Name string `json:"name"`

	// FQDN is deprecated upstream; it repeats OCMComponentName.
	// +optional
	FQDN string `json:"fqdn,omitempty"`

	// OCMComponentName is the component that the module was installed from.
	// +optional
	OCMComponentName string `json:"ocmComponentName,omitempty"`

	// Manifest that installs the module.
	// +optional
	Manifest *TrackingObject `json:"manifest,omitempty"`

	// Channel that the version came from.
	// +optional
	Channel string `json:"channel,omitempty"`

	// Version that is installed or being installed.
	// +optional
	Version string `json:"version,omitempty"`

	// InstalledVersion is the version that was last brought up completely, where Version is another one.
	// +optional
	InstalledVersion string `json:"installedVersion,omitempty"`

	// Offered is the version that the module waits for, while a rollout does not let it have that one yet.
	// +optional
	Offered string `json:"offered,omitempty"`

	// Avoid is the version that the module went back from by itself, "<version>@<digest>": it is not tried again.
	// +optional
	Avoid string `json:"avoid,omitempty"`

	// Pending is the version that waits for consent, and what it asks for.
	// +optional
	Pending *PendingVersion `json:"pending,omitempty"`

	// Reason is the machine-readable reason for the state, in CamelCase. Empty for a module that is ready and waits for nothing.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message says why the module is not ready and what a user can do.
	// +optional
	Message string `json:"message,omitempty"`

	// State of the installation.
	State State `json:"state"`

	// Maintenance is true while an upgrade waits for a maintenance window.
	// +kubebuilder:default=false
	// +optional
	Maintenance bool `json:"maintenance,omitempty"`

	// Resource is the module's default CR.
	// +optional
	Resource *TrackingObject `json:"resource,omitempty"`

	// ResourceState is what the module's own CR reports in its status.state.
	// +optional
	ResourceState State `json:"resourceState,omitempty"`

	// ResourceMessage goes with ResourceState.
	// +optional
	ResourceMessage string `json:"resourceMessage,omitempty"`

	// Template that the version was taken from.
	// +optional
	Template *TrackingObject `json:"template,omitempty"`

	// Signature tells who signed what is installed. None where no policy asks for signatures.
	// +optional
	Signature *SignatureStatus `json:"signature,omitempty"`
}
