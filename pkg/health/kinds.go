package health

import "fmt"

// namespace is ready when it is active. Creating an object in a terminating namespace is refused, and waiting does not help those objects,
// so that state is reported even without a deletion timestamp.
func namespace(o object) Result {
	switch phase := o.text("status", "phase"); phase {
	case "Active":
		return Result{Ready, "active"}
	case "Terminating":
		return Result{Terminating, "is being deleted"}
	case "":
		return Result{InProgress, "is not active yet"}
	default:
		return Result{Unknown, fmt.Sprintf("is in the phase %q", phase)}
	}
}

// claim distinguishes a lost volume, which does not come back, from one that is not bound yet.
func claim(o object) Result {
	switch phase := o.text("status", "phase"); phase {
	case "Bound":
		return Result{Ready, "bound"}
	case "Lost":
		return Result{Failed, "its volume is lost; restore the volume, or delete the claim to get a new one"}
	case "Pending":
		return Result{InProgress, "no volume is bound yet; check its storage class, some wait until a pod uses the claim"}
	case "":
		return Result{InProgress, "was not observed yet"}
	default:
		return Result{Unknown, fmt.Sprintf("is in the phase %q", phase)}
	}
}

// apiService is ready when the server behind it responds. It never counts as failed: it recovers as soon as that server does.
func apiService(o object) Result {
	available, found := o.condition("Available")
	switch {
	case !found:
		return Result{InProgress, "was not observed yet"}
	case available.status == "True":
		return Result{Ready, "available"}
	}
	return Result{InProgress, "is not available: " + orElse(available.why(), "it reports no reason")}
}
