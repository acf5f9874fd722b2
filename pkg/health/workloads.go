package health

import (
	"fmt"
	"strings"
)

// replicated is kstatus after one more check: a controller of this kind always reports the generation that it has seen, so a status without
// it does not come from the controller. Without the check, an object with zero replicas would be ready before its controller has observed
// it.
func replicated(o object) Result {
	if _, found := o.number("status", "observedGeneration"); !found {
		return Result{InProgress, "was not observed by its controller yet"}
	}
	return kstatus(o)
}

// deployment adds to the counts of kstatus the reason why they do not rise.
func deployment(o object) Result {
	result := replicated(o)
	switch result.Status {
	case Failed:
		if progress, _ := o.condition("Progressing"); progress.reason == "ProgressDeadlineExceeded" {
			result.Message = strings.TrimSuffix(progress.why(), ".")
		}
		result.Message += "; check the pods and events" + o.where()
	case InProgress:
		if o.flag("spec", "paused") {
			result.Message += "; the rollout is paused by spec.paused"
		}
		if failure, ok := o.is("ReplicaFailure", "True"); ok {
			result.Message += "; pods cannot be created: " + failure.why()
		}
	default: // nothing to add
	}
	return result
}

// statefulSet counts pods under OnDelete, where kstatus does not check anything: updates wait until the pods are deleted, but the pods must
// exist.
func statefulSet(o object) Result {
	result := replicated(o)
	if result.Status != Ready || o.text("spec", "updateStrategy", "type") != "OnDelete" {
		return result
	}
	wanted, found := o.number("spec", "replicas")
	if !found {
		wanted = 1
	}
	if ready := o.count("status", "readyReplicas"); ready < wanted {
		return Result{InProgress, fmt.Sprintf("Ready: %d/%d", ready, wanted)}
	}
	return result
}

// daemonSet does not wait for updated pods under OnDelete, as kstatus does: updates wait until the old pods are deleted.
func daemonSet(o object) Result {
	if o.text("spec", "updateStrategy", "type") != "OnDelete" {
		return kstatus(o)
	}
	wanted, found := o.number("status", "desiredNumberScheduled")
	if _, observed := o.number("status", "observedGeneration"); !found || !observed {
		return Result{InProgress, "was not observed by its controller yet"}
	}
	if available := o.count("status", "numberAvailable"); available < wanted {
		return Result{InProgress, fmt.Sprintf("Available: %d/%d", available, wanted)}
	}
	return Result{Ready, "available on every node; pods are updated when they are deleted"}
}

// job is ready when its work is done. kstatus calls it ready as soon as it runs.
func job(o object) Result {
	if failed, ok := o.is("Failed", "True"); ok {
		return Result{Failed, orElse(failed.why(), "it failed") + "; check the logs of its pods" + o.where()}
	}
	if _, ok := o.is("Complete", "True"); ok {
		return Result{Ready, "complete"}
	}
	if _, ok := o.is("Suspended", "True"); ok && o.flag("spec", "suspend") {
		return Result{Ready, "suspended, as spec.suspend asks"}
	}
	if o.text("status", "startTime") == "" {
		return Result{InProgress, "was not started yet"}
	}
	return Result{InProgress, fmt.Sprintf("is running: %d active, %d succeeded, %d failed",
		o.count("status", "active"), o.count("status", "succeeded"), o.count("status", "failed"))}
}

// pod has its own rules because kstatus uses the clock to see how long a pod has been waiting for a node, and because a pod that failed is
// not ready.
func pod(o object) Result {
	switch phase := o.text("status", "phase"); phase {
	case "Succeeded":
		return Result{Ready, "completed"}
	case "Failed":
		why := condition{reason: o.text("status", "reason"), message: o.text("status", "message")}.why()
		return Result{Failed, orElse(why, "its containers failed") + "; check its logs"}
	case "Running":
		if _, ok := o.is("Ready", "True"); ok {
			return Result{Ready, "running and ready"}
		}
		return podWaits(o, "is running and not ready yet")
	case "Pending":
		if scheduled, ok := o.is("PodScheduled", "False"); ok {
			return Result{InProgress, "has no node: " + orElse(scheduled.why(), "it was not scheduled yet")}
		}
		return podWaits(o, "is pending")
	case "":
		return Result{InProgress, "was not observed yet"}
	default:
		return Result{Unknown, fmt.Sprintf("is in the phase %q", phase)}
	}
}

// podWaits names the containers that do not run and why. A container that crashes repeatedly has failed.
func podWaits(o object, otherwise string) Result {
	verdict, reasons := InProgress, []string(nil)
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, container := range o.list("status", list) {
			state, _ := container["state"].(map[string]any)
			waiting, _ := state["waiting"].(map[string]any)
			reason, _ := waiting["reason"].(string)
			if reason == "" {
				continue
			}
			if reason == "CrashLoopBackOff" {
				verdict = Failed
			}
			name, _ := container["name"].(string)
			message, _ := waiting["message"].(string)
			reasons = append(reasons, fmt.Sprintf("container %s waits: %s", name, condition{reason: reason, message: message}.why()))
		}
	}
	if len(reasons) == 0 {
		return Result{verdict, otherwise}
	}
	return Result{verdict, strings.Join(reasons, "; ")}
}

// where returns " in namespace x" for a message.
func (o object) where() string {
	if o.GetNamespace() == "" {
		return ""
	}
	return " in namespace " + o.GetNamespace()
}
