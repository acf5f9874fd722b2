package installer

import (
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// State sums up an installation in one word, in Kyma's convention.
type State string

// States of an installation.
const (
	// StateReady: what is declared is there and runs.
	StateReady State = "Ready"
	// StateProcessing: not there yet; it may get there by itself, or by another call.
	StateProcessing State = "Processing"
	// StateError: a user must act. The call also returned an error, or an object has failed.
	StateError State = "Error"
	// StateDeleting: it is being taken down.
	StateDeleting State = "Deleting"
	// StateGone: nothing is installed.
	StateGone State = "Gone"
)

// Report is what a call found and did. It is filled as far as the call got, also where that returns an error.
type Report struct {
	// Ready: everything is there, as declared, and runs; after Uninstall: nothing is left.
	Ready bool
	// State is Ready and its causes in one word.
	State State
	// Reason is one of the reasons of this package, of pkg/content, or a class of pkg/apply; the same words as in conditions of a Manifest.
	Reason string
	// Message says in a sentence what State is due to.
	Message string
	// Objects in the order in which they are applied, then those that were pruned; at Uninstall all in the order of their deletion.
	Objects []ObjectReport
	// Resolved says what each Source stands for, in their order.
	Resolved []Resolved
}

// ObjectReport is what happened to one object.
type ObjectReport struct {
	inventory.ID
	// Version under which it is written and read.
	Version string
	// Action that was taken; empty where the call takes none, or did not come that far.
	Action apply.Action
	// Health of it as it was seen last; empty when it was not looked at, or is not there.
	Health health.Status
	// Message says what is wrong, missing, overruled or kept; empty when there is nothing to say.
	Message string
}

// Resolved is the content that a Source stands for.
type Resolved struct {
	// Source is its name, Reference what it asked for.
	Source, Reference string
	content.Resolved
}
