package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UpgradeStrategy says how a module follows its channel.
// +kubebuilder:validation:Enum=Automatic;Manual
type UpgradeStrategy string

const (
	// UpgradeAutomatic installs what the channel offers.
	UpgradeAutomatic UpgradeStrategy = "Automatic"
	// UpgradeManual installs what the channel offers once approved names it.
	UpgradeManual UpgradeStrategy = "Manual"
)

// PendingVersion is a version that waits for consent, or that had to wait for it and has a deadline while it waits for something else.
type PendingVersion struct {
	// Version that waits.
	Version string `json:"version"`

	// Digest of what it installs. Consent names both: "<version>@<digest>".
	// +optional
	Digest string `json:"digest,omitempty"`

	// From are those whose consent is missing: Hub, Runtime or both of them, or Any, where that of one is enough. Empty: none is missing, and
	// the version waits for something else.
	// +listType=atomic
	// +optional
	From []ConsentSide `json:"from,omitempty"`

	// Deadline is when the version is installed without the consent that only upgradeStrategy asks for.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`

	// Counts of what changes with the version.
	// +optional
	Counts PendingCounts `json:"counts,omitzero"`

	// Gravest are sentences about what the version may do and the installed one may not, the gravest first.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	Gravest []string `json:"gravest,omitempty"`

	// Downtime is true when the version also waits for a maintenance window.
	// +optional
	Downtime bool `json:"downtime,omitempty"`
}

// PendingCounts counts what changes with a version.
type PendingCounts struct {
	// RightsAdded are rights that the installed version does not have.
	// +optional
	RightsAdded int `json:"rightsAdded,omitempty"`
	// RightsRemoved are rights that only the installed version has.
	// +optional
	RightsRemoved int `json:"rightsRemoved,omitempty"`
	// Definitions that are added, changed or removed.
	// +optional
	Definitions int `json:"definitions,omitempty"`
	// Webhooks that are added or changed.
	// +optional
	Webhooks int `json:"webhooks,omitempty"`
	// Images from other repositories than before.
	// +optional
	Images int `json:"images,omitempty"`
}

// ConsentSide is a Kyma whose user gives consent.
// +kubebuilder:validation:Enum=Hub;Runtime;Any
type ConsentSide string

const (
	// ConsentHub is the user of the Kyma on the hub.
	ConsentHub ConsentSide = "Hub"
	// ConsentRuntime is the user of the Kyma in the runtime.
	ConsentRuntime ConsentSide = "Runtime"
	// ConsentAny is the user of either; only a status says so.
	ConsentAny ConsentSide = "Any"
)
