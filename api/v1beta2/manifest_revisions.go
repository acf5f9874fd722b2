package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Revision is one thing that a Manifest was asked to install: what it was, when, and how it ended. It refers to content and copies none.
type Revision struct {
	// Number counts revisions of the Manifest from 1.
	Number int64 `json:"number"`

	// Version of the module.
	// +optional
	Version string `json:"version,omitempty"`

	// Digest of the content: "sha256:" and 64 hex digits, over the digests of all that is installed.
	Digest string `json:"digest"`

	// Template is a hash of what the ModuleTemplate adds to the content, 16 hex digits.
	// +optional
	Template string `json:"template,omitempty"`

	// At is when the revision began.
	At metav1.Time `json:"at"`

	// Since is when the last obstacle that was not the module itself went away, such as a runtime that did not answer; empty where there was
	// none. The newest revision alone has it.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// Observed is how long the operator has observed the revision under way at least, since it began or since Since; a restart of the operator
	// continues from it. Only a module that goes back by itself has it, on its newest revision, and it is written a few times in an upgrade.
	// +optional
	Observed *metav1.Duration `json:"observed,omitempty"`

	// Before is the state of the Manifest when the revision began; empty for the first.
	// +optional
	Before State `json:"before,omitempty"`

	// Outcome is empty until it is known.
	// +optional
	Outcome RevisionOutcome `json:"outcome,omitempty"`

	// Reason of the outcome in one word; empty for Succeeded.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// RevisionOutcome is how a revision ended.
// +kubebuilder:validation:Enum=Succeeded;Failed;Superseded;RolledBack
type RevisionOutcome string

const (
	// RevisionSucceeded: everything was ready.
	RevisionSucceeded RevisionOutcome = "Succeeded"
	// RevisionFailed: it could not be installed, or an object reported a failure, and it has not been ready since.
	RevisionFailed RevisionOutcome = "Failed"
	// RevisionSuperseded: the next one began before it was known.
	RevisionSuperseded RevisionOutcome = "Superseded"
	// RevisionRolledBack: an earlier version was installed in its place, or earlier content of the same version.
	RevisionRolledBack RevisionOutcome = "RolledBack"
)
