package health

import (
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Status sums up an object in one word.
type Status string

// The statuses of an object.
const (
	// Ready: the state that its current generation requires was observed.
	Ready Status = "Ready"
	// InProgress: it is not ready yet, and may become ready by itself.
	InProgress Status = "InProgress"
	// Failed: its controller has given up, or it will not become ready without a user's action.
	Failed Status = "Failed"
	// Terminating: it is being deleted.
	Terminating Status = "Terminating"
	// Unknown: its status cannot be read.
	Unknown Status = "Unknown"
)

// Result is the verdict on one object.
type Result struct {
	Status Status
	// Message gives the reason, and what helps. It may be empty.
	Message string
}

// rules judge the kinds that kstatus does not cover, or treats too leniently. They apply after the checks that hold for every kind.
var rules = map[schema.GroupKind]func(object) Result{
	{Kind: "Namespace"}:             namespace,
	{Kind: "PersistentVolumeClaim"}: claim,
	{Kind: "Pod"}:                   pod,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}: apiService,
	{Group: "apps", Kind: "DaemonSet"}:                    daemonSet,
	{Group: "apps", Kind: "Deployment"}:                   deployment,
	{Group: "apps", Kind: "ReplicaSet"}:                   replicated,
	{Group: "apps", Kind: "StatefulSet"}:                  statefulSet,
	{Group: "batch", Kind: "Job"}:                         job,
}

// Of reports whether an object is ready.
func Of(u *unstructured.Unstructured) (result Result) {
	if u == nil {
		return Result{Unknown, "there is no object"}
	}
	defer func() {
		if problem := recover(); problem != nil { // kstatus assumes that objects are well-formed
			result = Result{Unknown, conditions.Cut(fmt.Sprintf("its status cannot be read: %v", problem))}
		}
	}()
	result = judge(object{u})
	result.Message = conditions.Cut(result.Message)
	return result
}

func judge(o object) Result {
	if o.deleted() {
		message := "is being deleted"
		if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
			message += "; waits for " + strings.Join(finalizers, ", ") + " to let go of it"
		}
		return Result{Terminating, message}
	}
	if observed, found := o.number("status", "observedGeneration"); found && observed < o.GetGeneration() {
		return Result{InProgress, fmt.Sprintf("generation %d was not observed yet, the last one was %d", o.GetGeneration(), observed)}
	}
	if rule, found := rules[o.GroupVersionKind().GroupKind()]; found {
		return rule(o)
	}
	if status.GetLegacyConditionsFn(o.Unstructured) == nil {
		ready, found := o.condition("Ready")
		if found && ready.observedGeneration > 0 && ready.observedGeneration < o.GetGeneration() {
			return Result{InProgress, fmt.Sprintf("generation %d was not observed yet, condition Ready refers to generation %d",
				o.GetGeneration(), ready.observedGeneration)}
		}
	}
	return kstatus(o)
}

// kstatus returns the verdict of the library in our own words.
func kstatus(o object) Result {
	verdict, err := status.Compute(o.Unstructured)
	if err != nil {
		return Result{Unknown, fmt.Sprintf("its status cannot be read: %v", err)}
	}
	message := verdict.Message
	if message == "" && len(verdict.Conditions) > 0 {
		message = verdict.Conditions[0].Reason
	}
	switch verdict.Status {
	case status.CurrentStatus:
		return Result{Ready, message}
	case status.FailedStatus:
		return Result{Failed, orElse(message, "it failed without a message")}
	case status.InProgressStatus:
		return Result{InProgress, orElse(message, "it is not ready, without a message")}
	default:
		return Result{Unknown, fmt.Sprintf("kstatus reports %s: %s", verdict.Status, message)}
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
