package module

import (
	"cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// outcome is the state of a module after this pass.
type outcome struct {
	state           v1beta2.State
	reason, message string
	// cause is the Manifest's own reason where the Manifest decided; the message of the Kyma's condition names it.
	cause string
}

// conclude returns the outcome that a rule of the table defines.
func conclude(r rule, pairs ...string) outcome {
	return outcome{state: rules[r].State, reason: rules[r].Reason, cause: rules[r].Reason, message: r.message(pairs...)}
}

// judge returns the outcome for a module: from a write that failed, else from its verdict, else from its Manifest's status.
func judge(w Snapshot, v *Verdict, result Result) outcome {
	manifest := current(v, result)
	passes := result.Reason == v1beta2.ReasonManifestPending && v.Kind != Run // the verdict still holds
	if result.Reason != "" && !passes {
		return conclude(failure(result.Reason), "manifest", nameOf(w, v, manifest), "detail", result.Message)
	}
	switch v.Kind {
	case Run:
		return judgeBack(v, judgeRun(w, v, manifest))
	case Removed:
		return judgeRemoved(v, manifest)
	case Waiting, Keep:
		if v.State == "" {
			return judgeHeld(w, v, manifest)
		}
		if v.Kind == Keep {
			return judgeKeep(v, manifest)
		}
	case Refused, Unmanaged:
	}
	return verdictOutcome(v)
}

func verdictOutcome(v *Verdict) outcome {
	return outcome{state: v.State, reason: v.Reason, cause: v.Reason, message: v.Message}
}

// settled reports whether the module runs as its verdict requires.
func settled(w Snapshot, v *Verdict) bool {
	return judgeRun(w, v, v.Manifest).state == v1beta2.StateReady
}

// current returns the latest known Manifest: as a write of this pass returned it, else as it was read.
func current(v *Verdict, result Result) *v1beta2.Manifest {
	if result.Manifest != nil {
		return result.Manifest
	}
	return v.Manifest
}

// nameOf returns the name of the module's Manifest, or the name that it will get.
func nameOf(w Snapshot, v *Verdict, manifest *v1beta2.Manifest) string {
	if manifest != nil {
		return manifest.Name
	}
	return ManifestName(w.Kyma.Name, v.ComponentName, v.Module)
}

// judgeRun returns Ready only when the Manifest exists, has the wanted spec, was observed in this generation and is Ready, and when the
// module's own resource, where it counts, is Ready too. The Kyma, or else the template, defines whether it counts.
func judgeRun(w Snapshot, v *Verdict, manifest *v1beta2.Manifest) outcome {
	pending := conclude(ruleManifestPending, "manifest", nameOf(w, v, manifest))
	if manifest == nil || !observed(manifest) || terminating(manifest) {
		return pending
	}
	if !compare(manifest, wanted(w.Kyma, v)).running() {
		return pending
	}
	installation := judgeInstallation(manifest)
	switch cmp.Or(w.Kyma.Spec.Readiness, v.Template.Spec.Readiness) {
	case v1beta2.ReadinessBoth:
		return worse(installation, judgeResource(manifest))
	case v1beta2.ReadinessModuleCR:
		return judgeByResource(installation, judgeResource(manifest))
	case v1beta2.ReadinessWorkloads:
	}
	return installation
}

// judgeInstallation returns the outcome that a Manifest reports. While it is only being applied, the outcome is the same as before it was
// observed: a distinction would cost a write of the Kyma's status at every installation, without a benefit.
func judgeInstallation(manifest *v1beta2.Manifest) outcome {
	reason, message := report(manifest)
	if reason == v1beta2.ReasonRollbackUnsafe {
		return conclude(ruleRollbackUnsafe, "detail", message)
	}
	var result outcome
	switch manifest.Status.State {
	case v1beta2.StateReady:
		return conclude(ruleReady)
	case v1beta2.StateError:
		result = conclude(ruleError, "detail", message)
	case v1beta2.StateWarning:
		result = conclude(ruleWarning, "detail", message)
	default:
		switch reason {
		case "", v1beta2.ReasonPending, v1beta2.ReasonApplying:
			return conclude(ruleManifestPending, "manifest", manifest.Name)
		}
		result = conclude(ruleProcessing, "detail", message)
	}
	result.cause = cmp.Or(reason, result.reason)
	return result
}

// judgeResource returns the outcome by the module's own resource alone.
func judgeResource(manifest *v1beta2.Manifest) outcome {
	state := manifest.Status.ResourceState
	none := manifest.Spec.Resource == nil || manifest.Spec.CustomResourcePolicy == v1beta2.CustomResourcePolicyIgnore
	if state == v1beta2.StateReady || state == "" && none {
		return conclude(ruleReady)
	}
	detail := cmp.Or(string(state), "no state yet")
	if message := manifest.Status.ResourceMessage; message != "" {
		detail += ": " + message
	}
	result := conclude(ruleModuleCR, "detail", detail)
	switch state {
	case v1beta2.StateError, v1beta2.StateWarning, v1beta2.StateDeleting:
		result.state = state
	default:
		result.state = v1beta2.StateProcessing
	}
	return result
}

// judgeByResource returns the health of the objects as the module's own resource reports it. The objects must still exist and be ready,
// since an operator that is being replaced may have reported Ready for the previous version; but only the resource decides that they
// failed.
func judgeByResource(installation, resource outcome) outcome {
	if installation.state == v1beta2.StateReady {
		return resource
	}
	switch installation.cause {
	case v1beta2.ReasonWaitingForObjects, v1beta2.ReasonObjectFailed:
		if resource.state != v1beta2.StateReady {
			return resource
		}
		patient := conclude(ruleProcessing, "detail", installation.message)
		patient.cause = installation.cause
		return patient
	}
	return worse(installation, resource)
}

// judgeKeep returns the verdict, unless the kept installation is in error itself, which is worse.
func judgeKeep(v *Verdict, manifest *v1beta2.Manifest) outcome {
	refused := verdictOutcome(v)
	if manifest == nil || !observed(manifest) || manifest.Status.State != v1beta2.StateError {
		return refused
	}
	reason, message := report(manifest)
	both := conclude(ruleError, "detail", refused.message+"; the kept version: "+message)
	if refused.state == v1beta2.StateError {
		both.reason = refused.reason
	}
	both.cause = cmp.Or(reason, both.reason)
	return both
}

// judgeHeld returns the outcome for the installed version while another one waits for its window or its rollout; the message mentions the
// wait. Where nothing is installed that is all there is to tell.
func judgeHeld(w Snapshot, v *Verdict, manifest *v1beta2.Manifest) outcome {
	have := conclude(ruleManifestPending, "manifest", nameOf(w, v, manifest))
	switch {
	case v.Template == nil && manifest == nil && (v.Offered != "" || v.Reason == v1beta2.ReasonApprovalRequired):
		return outcome{state: v1beta2.StateProcessing, reason: v.Reason, cause: v.Reason, message: v.Message}
	case v.Template != nil:
		have = judgeRun(w, v, manifest)
	case manifest != nil && observed(manifest) && manifest.Spec.Version == v.Version:
		have = judgeInstallation(manifest)
	}
	if v.Silent {
		return have
	}
	if have.state == v1beta2.StateReady {
		return outcome{state: have.state, reason: v.Reason, cause: v.Reason, message: v.Message}
	}
	have.message += "; " + v.Message
	return have
}

// judgeRemoved returns the verdict, or the cause that a Manifest reports when its deletion is held up.
func judgeRemoved(v *Verdict, manifest *v1beta2.Manifest) outcome {
	removed := verdictOutcome(v)
	if !terminating(manifest) || !observed(manifest) || v.State == v1beta2.StateError {
		return removed
	}
	reason, message := report(manifest)
	switch manifest.Status.State {
	case v1beta2.StateError:
		removed = conclude(ruleError, "detail", message)
	case v1beta2.StateWarning:
		removed = conclude(ruleWarning, "detail", message)
	case v1beta2.StateDeleting:
		removed.message = cmp.Or(message, removed.message)
	default:
		return removed
	}
	removed.cause = cmp.Or(reason, removed.reason)
	return removed
}

// observed reports whether a Manifest's status is for its current generation. The API server raises the generation at a deletion, too.
func observed(manifest *v1beta2.Manifest) bool {
	return manifest.Status.ObservedGeneration == manifest.Generation
}

// report returns the reason and message of a Manifest: those of its condition Ready, else its last operation.
func report(manifest *v1beta2.Manifest) (reason, message string) {
	if ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil {
		reason, message = ready.Reason, ready.Message
	}
	return reason, cmp.Or(message, manifest.Status.Operation, "Manifest "+manifest.Name+" gives no message")
}

// worse returns the outcome with the worse state, the first when they are equal.
func worse(a, b outcome) outcome {
	if b.state.Severity() > a.state.Severity() {
		return b
	}
	return a
}
