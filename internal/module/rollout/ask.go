package rollout

import "github.com/kyma-project/lifecycle-manager/api/v1beta2"

// Applicant is a Kyma that would have what a channel offers.
type Applicant struct {
	// UID and labels of the Kyma.
	UID    string
	Labels map[string]string
	// Running is the version that the module's Manifest asks for; empty when there is none.
	Running string
}

// Answer is what an Applicant may have.
type Answer struct {
	// Allowed lets it have what the channel offers.
	Allowed bool
	// NoSlot is true when its wave is open and others are before it: everything but the upgrade itself may be prepared.
	NoSlot bool
	// From is the version that it may have instead, empty when there is none.
	From string
	// Back is true when the rollout takes the offered version back from it now.
	Back bool
	// Aborted is true when the rollout of the version that it runs was aborted.
	Aborted bool
	// Detail completes the sentence "version X waits ...", for people.
	Detail string
}

// Ask returns what an applicant may have of the version that the channel offers. A rollout that is nil or does not fit the mark of the
// release admits nobody new; without a mark every Kyma may have what is offered.
func Ask(rollout *v1beta2.ModuleRollout, mark, channel, offered string, a Applicant) Answer {
	return Answer{Allowed: mark == ""}
}
