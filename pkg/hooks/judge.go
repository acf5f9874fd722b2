package hooks

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// AnnotationTicket on the object of a hook says for what it was written.
const AnnotationTicket = "operator.kyma-project.io/hook-run"

// Verdict is what a hook needs.
type Verdict int

const (
	// Write it: nothing was done for it yet.
	Write Verdict = iota
	// Replace it: an earlier run stands in its place.
	Replace
	// Wait: it is under way.
	Wait
	// Completed: the next one may begin.
	Completed
	// Failed: it will not complete by itself. Its object stays: that is the record of the failure, and to delete it is to try again.
	Failed
	// Foreign: an object that belongs to another owner stands in its place.
	Foreign
)

// WithTicket returns a copy of the object that says for what it is written.
func (h Hook) WithTicket(ticket string) *unstructured.Unstructured {
	object := h.Object.DeepCopy()
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationTicket] = ticket
	object.SetAnnotations(annotations)
	return object
}

// Judge returns what the next hook needs, and why where it is not to be written. live is its object in the cluster, nil when
// there is none; ours means that it carries the owner mark. The rules, of which the first that holds decides:
//
//  1. no object                                   -> Write
//  2. another owner's                             -> Foreign where it runs to completion; the write of any other tells whose it is
//  3. ours with the ticket, completed or failed   -> Completed, Failed
//  4. being deleted                               -> Wait
//  5. ours with the ticket                        -> Wait where it runs to completion, else Completed
//  6. ours of another run                         -> Replace where it runs to completion, else Write
func (h Hook) Judge(ticket string, live *unstructured.Unstructured, ours bool) (verdict Verdict, why string) {
	programme := h.RunsToCompletion()
	current := live != nil && ours && live.GetAnnotations()[AnnotationTicket] == ticket
	if current && programme {
		if verdict, why = outcome(live); verdict != Wait {
			return verdict, why
		}
	}
	switch {
	case live == nil:
		return Write, ""
	case !ours && programme:
		return Foreign, "it does not carry the owner mark"
	case live.GetDeletionTimestamp() != nil:
		return Wait, "it is being deleted"
	case current && programme:
		return Wait, why
	case current:
		return Completed, ""
	case programme:
		return Replace, "it is of an earlier run"
	default:
		return Write, ""
	}
}

// outcome returns how a program has ended. A Job that is suspended has not.
func outcome(live *unstructured.Unstructured) (Verdict, string) {
	result := health.Of(live)
	if result.Status == health.Failed {
		return Failed, result.Message
	}
	if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); live.GetKind() == "Pod" && phase == "Succeeded" {
		return Completed, ""
	}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		if live.GetKind() == "Job" && fields["type"] == "Complete" && fields["status"] == "True" {
			return Completed, ""
		}
	}
	return Wait, result.Message
}
