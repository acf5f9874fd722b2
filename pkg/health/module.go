package health

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// The states of the Kyma convention that are judged here; others are passed on.
const (
	stateReady      = "Ready"
	stateProcessing = "Processing"
	stateWarning    = "Warning"
	stateDeleting   = "Deleting"
)

// maxState bounds status.state. A longer text is not a state of any convention, and it would be copied into our own status.
const maxState = 63

// ModuleState returns the state that a module's own resource reports in status.state, and a sentence that explains it. Both are empty when
// it reports none.
//
// The state is passed on as it is, with two exceptions, where it is known to be out of date: a Ready or Warning of an older generation is
// Processing, and a resource that is being deleted is Deleting unless it reports trouble.
func ModuleState(u *unstructured.Unstructured) (state, message string) {
	if u == nil {
		return "", ""
	}
	o := object{u}
	state = o.text("status", "state")
	if state == "" || len(state) > maxState {
		return "", ""
	}
	switch now := current(o, state); now {
	case state:
		return state, conditions.Cut(explanation(o))
	case stateDeleting:
		return stateDeleting, "the resource is being deleted"
	default:
		return now, fmt.Sprintf("generation %d was not observed yet, %s refers to generation %d",
			o.GetGeneration(), state, o.count("status", "observedGeneration"))
	}
}

// current returns the state that a resource reports, corrected where it is known to be out of date.
func current(o object, state string) string {
	if o.deleted() {
		if state == stateReady || state == stateProcessing {
			return stateDeleting
		}
		return state
	}
	observed, found := o.number("status", "observedGeneration")
	if found && observed < o.GetGeneration() && (state == stateReady || state == stateWarning) {
		return stateProcessing
	}
	return state
}

// explanation returns the text of the most informative condition: Ready when it is not true, then one that is false, then one that is
// unknown, then Ready itself. Modules without conditions write status.description. Conditions that are true and not Ready are left out:
// nothing indicates whether they are good news.
func explanation(o object) string {
	all := o.conditions()
	first := func(matches func(condition) bool) string {
		for _, c := range all {
			if text := orElse(c.message, c.reason); text != "" && matches(c) {
				return text
			}
		}
		return ""
	}
	isReady := func(c condition) bool { return c.kind == "Ready" }
	if o.text("status", "state") == stateReady { // a condition of a feature that is off on purpose does not explain it
		return orElse(first(isReady), o.text("status", "description"))
	}
	for _, matches := range []func(condition) bool{
		func(c condition) bool { return isReady(c) && c.status != "True" },
		func(c condition) bool { return c.status == "False" },
		func(c condition) bool { return c.status == "Unknown" },
		isReady,
	} {
		if text := first(matches); text != "" {
			return text
		}
	}
	return o.text("status", "description")
}
