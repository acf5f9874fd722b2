package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModuleRollout decides when the Kymas that follow a channel get the version that it moves to: wave after wave, and no further when too
// many fail. It is named like the module's ModuleReleaseMeta and lives in its namespace. Without one, a channel that moves reaches all at
// once.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=mro
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Summary",type=string,JSONPath=".status.summary"
// +kubebuilder:printcolumn:name="Armed",type=string,priority=1,JSONPath=".status.conditions[?(@.type==\"Armed\")].status"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type ModuleRollout struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ModuleRolloutSpec `json:"spec,omitempty"`

	// Status is what the manager observed. Before it has looked, it is of no generation, so that no client takes the object for settled.
	// +kubebuilder:default={"observedGeneration":-1}
	Status ModuleRolloutStatus `json:"status,omitempty"`
}

// ModuleRolloutList is a list of ModuleRollouts.
// +kubebuilder:object:root=true
type ModuleRolloutList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModuleRollout `json:"items"`
}

// ModuleRolloutSpec is the plan of a rollout.
type ModuleRolloutSpec struct {
	// Channels that the plan is for; without any, all channels of the module, and its version where it is mandatory.
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	Channels []string `json:"channels,omitempty"`

	// Waves in their order. A Kyma is in the first one that selects it. Kymas that none selects are in a last wave of their own, "others".
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Waves []RolloutWave `json:"waves"`

	// ProgressDeadline is how long a Kyma may take to be ready with the new version before it counts as failed.
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s')",message="progressDeadline must be at least 10s"
	// +optional
	ProgressDeadline metav1.Duration `json:"progressDeadline,omitzero"`

	// OnFailure says what happens when a wave has more failures than it allows: Halt admits no further Kyma, Rollback also takes the new
	// version back from those that have it.
	// +kubebuilder:default=Halt
	// +optional
	OnFailure RolloutFailureAction `json:"onFailure,omitempty"`

	// Paused stops admissions. Upgrades that have begun continue.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Decision of a person. It counts for the target that it names, and for no other.
	// +optional
	Decision *RolloutDecision `json:"decision,omitempty"`
}

// RolloutFailureAction says what happens when a wave has more failures than it allows.
// +kubebuilder:validation:Enum=Halt;Rollback
type RolloutFailureAction string

const (
	// RolloutHalt admits no further Kyma.
	RolloutHalt RolloutFailureAction = "Halt"
	// RolloutRollback admits no further Kyma, and takes the new version back from those that have it.
	RolloutRollback RolloutFailureAction = "Rollback"
)

// RolloutWave is a group of Kymas that get a version together.
type RolloutWave struct {
	// Name of the wave.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != 'others'",message="\"others\" is the name of the wave of Kymas that no wave selects"
	Name string `json:"name"`

	// Selector of the Kymas in the wave, by their labels; without one, all that no earlier wave has.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Share of the selected Kymas that are in the wave, as a percentage, rounded up. The choice is made when a target begins, and stays.
	// +kubebuilder:validation:Pattern=`^(100|[1-9][0-9]?)%$`
	// +optional
	Share string `json:"share,omitempty"`

	// MaxConcurrent bounds how many Kymas of the wave upgrade at a time; without it, all of them do.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	// +optional
	MaxConcurrent int32 `json:"maxConcurrent,omitempty"`

	// MaxFailed is how many Kymas of the wave may fail, as a number or as a percentage, which is rounded down; default 0.
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}|(100|[1-9]?[0-9])%)$`
	// +optional
	MaxFailed string `json:"maxFailed,omitempty"`

	// Soak is how long the wave must have been ready before the next one begins.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="soak must be a duration such as 2h30m, of hours, minutes and seconds"
	// +optional
	Soak metav1.Duration `json:"soak,omitzero"`

	// Approval makes the wave wait for a person before it begins.
	// +optional
	Approval bool `json:"approval,omitempty"`
}

// RolloutDecision is what a person decided about a target.
type RolloutDecision struct {
	// Action: approve lets the wave begin, or an empty one pass; resume continues a halted rollout and forgives the failures so far; abort
	// ends the rollout.
	Action RolloutAction `json:"action"`

	// Target that the decision is about: its version, with "@" and its digest where one is known.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=160
	Target string `json:"target"`

	// Channel that the decision is about; empty: all channels with that target.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Channel string `json:"channel,omitempty"`

	// Wave that is approved, or in which the rollout had halted.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Wave string `json:"wave,omitempty"`

	// At is when the person decided: resume forgives what failed until then, and does not count without it.
	// +optional
	At metav1.Time `json:"at,omitzero"`

	// By names the person.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	By string `json:"by,omitempty"`
}

// RolloutAction is what a person can decide.
// +kubebuilder:validation:Enum=approve;resume;abort
type RolloutAction string

const (
	// RolloutApprove lets a wave begin that waits for approval, and one pass that is empty.
	RolloutApprove RolloutAction = "approve"
	// RolloutResume continues a halted rollout and forgives the failures so far.
	RolloutResume RolloutAction = "resume"
	// RolloutAbort ends a rollout: no further Kyma gets the version.
	RolloutAbort RolloutAction = "abort"
)

// ModuleRolloutStatus is the observed state of a rollout.
type ModuleRolloutStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks of; -1 before there is one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase of the channel that needs a person most: Halted before RollingBack, Waiting, Progressing, and the rest.
	// +optional
	Phase RolloutPhase `json:"phase,omitempty"`

	// Summary says in one line how far each channel is.
	// +optional
	Summary string `json:"summary,omitempty"`

	// Channels that the rollout is for, and how far each is. A mandatory module has one entry, with an empty name.
	// +listType=map
	// +listMapKey=name
	// +optional
	Channels []RolloutChannel `json:"channels,omitempty"`

	// Conditions: Armed, Progressing, Halted and Completed.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RolloutPhase says how far the rollout of one target is.
type RolloutPhase string

const (
	// RolloutProgressing: Kymas of the current wave get the target, or it soaks.
	RolloutProgressing RolloutPhase = "Progressing"
	// RolloutWaiting: nothing fails, but a person must act: an approval, an empty wave, a pause.
	RolloutWaiting RolloutPhase = "Waiting"
	// RolloutHalted: too many failed; nothing goes on before a person decides.
	RolloutHalted RolloutPhase = "Halted"
	// RolloutRollingBack: too many failed, and those that have the target go back.
	RolloutRollingBack RolloutPhase = "RollingBack"
	// RolloutRolledBack: too many failed, and those that had the target have gone back.
	RolloutRolledBack RolloutPhase = "RolledBack"
	// RolloutAborted: a person ended the rollout, or set the channel back.
	RolloutAborted RolloutPhase = "Aborted"
	// RolloutCompleted: all waves have passed; every Kyma of the channel may have the target.
	RolloutCompleted RolloutPhase = "Completed"
)

// RolloutChannel is the rollout of one channel to its present target.
type RolloutChannel struct {
	// Name of the channel; empty for a mandatory module.
	Name string `json:"name"`

	// From is the last version of the channel whose rollout completed; empty when none did.
	// +optional
	From RolloutVersion `json:"from,omitzero"`

	// To is the target: the version that the channel names.
	To RolloutVersion `json:"to"`

	// Since is when the target began. A decision that is older than that does not count for it.
	// +optional
	Since metav1.Time `json:"since,omitzero"`

	// Wave that is under way, the name of a wave or "others"; empty once completed.
	// +optional
	Wave string `json:"wave,omitempty"`

	// Phase of the rollout.
	Phase RolloutPhase `json:"phase"`

	// Message says what the rollout waits for, or why it halted.
	// +optional
	Message string `json:"message,omitempty"`

	// Cause says why the rollout halted, as it was then; it stays until a person decides.
	// +optional
	Cause string `json:"cause,omitempty"`

	// Open admits every Kyma of the current wave: it has no maxConcurrent.
	// +optional
	Open bool `json:"open,omitempty"`

	// Underway are the Kymas that may upgrade now, by the beginning of their UID.
	// +kubebuilder:validation:MaxItems=500
	// +listType=set
	// +optional
	Underway []string `json:"underway,omitempty"`

	// LastAdmission is when a Kyma was last named in underway, or the wave was opened. After a restart the manager takes it as the time from
	// which a Kyma that has a place, and has not begun, had it.
	// +optional
	LastAdmission metav1.Time `json:"lastAdmission,omitzero"`

	// Back are the Kymas that may go back now, by the beginning of their UID, while the phase is RollingBack.
	// +kubebuilder:validation:MaxItems=500
	// +listType=set
	// +optional
	Back []string `json:"back,omitempty"`

	// Waves in their order, with the Kymas that each has in every state.
	// +kubebuilder:validation:MaxItems=17
	// +listType=map
	// +listMapKey=name
	// +optional
	Waves []RolloutWaveStatus `json:"waves,omitempty"`

	// Worst are up to five Kymas that failed or are late, and why.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	Worst []RolloutFailure `json:"worst,omitempty"`

	// ForgivenUntil is the time of the last resume: failures until then do not count.
	// +optional
	ForgivenUntil metav1.Time `json:"forgivenUntil,omitzero"`
}

// RolloutVersion is a version of the module and the digest of its content.
type RolloutVersion struct {
	// +optional
	Version string `json:"version,omitempty"`
	// Digest is empty while the component version was not read, or cannot be.
	// +optional
	Digest string `json:"digest,omitempty"`
}

// RolloutWaveStatus counts the Kymas of a wave.
type RolloutWaveStatus struct {
	// Name of the wave.
	Name string `json:"name"`

	// Since is when the wave began; once all of it is ready, when that was first so: the soak runs from there.
	// +optional
	Since metav1.Time `json:"since,omitzero"`

	// Soaking is true once every Kyma of the wave that can be is ready.
	// +optional
	Soaking bool `json:"soaking,omitempty"`

	// Cut freezes the choice of a share: the Kymas whose rank is not above it are in the wave.
	// +optional
	Cut string `json:"cut,omitempty"`

	// Total is the number of Kymas in the wave.
	Total int32 `json:"total"`
	// Waiting have not begun.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`
	// Updating have begun and are not ready yet.
	// +optional
	Updating int32 `json:"updating,omitempty"`
	// Ready have the target, ready.
	// +optional
	Ready int32 `json:"ready,omitempty"`
	// Failed count against maxFailed.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// Forgiven failed before the last resume, and are not ready since. They do not count against maxFailed.
	// +optional
	Forgiven int32 `json:"forgiven,omitempty"`
	// BrokenBefore were not ready before they began, and are not ready now. They do not count against maxFailed.
	// +optional
	BrokenBefore int32 `json:"brokenBefore,omitempty"`
	// Skipped cannot begin: their runtime does not answer, or they wait for a maintenance window. They come later.
	// +optional
	Skipped int32 `json:"skipped,omitempty"`
}

// RolloutFailure is a Kyma that failed.
type RolloutFailure struct {
	// Kyma by name.
	Kyma string `json:"kyma"`
	// Reason in one word.
	Reason string `json:"reason"`
	// Message of its module.
	// +optional
	Message string `json:"message,omitempty"`
	// Since is when it failed.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}
