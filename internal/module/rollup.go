package module

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// named is the number of modules that the message of condition Ready describes. All modules are in status.modules.
const named = 3

// ConditionWebhook is upstream's condition about a webhook that does not exist here: it is removed once upstream's leftovers are gone.
const ConditionWebhook = "SKRWebhook"

// moduleReasons is one module of the status with the reasons that its entry does not carry.
type moduleReasons struct {
	entry         *v1beta2.ModuleStatus
	reason, cause string
}

// Rollup returns the Kyma's status after this pass, from the verdicts, their Manifests' status and the results of the writes, by module. It
// returns a new status and leaves the one in the Snapshot alone; when nothing changed the two are equal.
func Rollup(w Snapshot, verdicts []Verdict, results map[string]Result) v1beta2.KymaStatus {
	modules, mandatory := tellAll(w, verdicts, results)
	status := *w.Kyma.Status.DeepCopy()
	status.ObservedGeneration = w.Kyma.Generation
	status.State = stateOf(w.Kyma, modules)
	status.Modules = nil
	for _, module := range modules {
		status.Modules = append(status.Modules, *module.entry)
	}
	status.ModulesReady = fmt.Sprintf("%d/%d", ready(modules), len(modules))
	channel := cmp.Or(w.Kyma.Spec.Channel, v1beta2.DefaultChannel)
	if channel != v1beta2.NoChannel && (status.State == v1beta2.StateReady || status.State == v1beta2.StateWarning) {
		status.ActiveChannel = channel
	}
	status.Release = onRelease(w, verdicts, status.Modules)
	setConditions(w, &status, modules, mandatory)
	setMandatory(w, &status, mandatory)
	setOperation(w, &status)
	return status
}

// tellAll returns the entries of the status, and those of mandatory modules, which the status does not show.
func tellAll(w Snapshot, verdicts []Verdict, results map[string]Result) (modules, mandatory []moduleReasons) {
	before := statusByName(w.Kyma)
	for i := range verdicts {
		v, entry, result := &verdicts[i], before[verdicts[i].Module], results[verdicts[i].Module]
		if v.Mandatory {
			entry = nil
		}
		switch {
		case v.Manifest == nil && v.Template == nil:
			result = Result{} // it had nothing to write: this result belongs to the module's other verdict
		case v.Mandatory && v.Kind == Removed:
			result.Manifest = nil // so is this: a deletion returns none
		}
		outcome := judge(w, v, result)
		one := moduleReasons{entry: entryOf(w, v, entry, result, outcome), reason: outcome.reason, cause: outcome.cause}
		switch {
		case one.entry == nil:
		case v.Mandatory:
			mandatory = append(mandatory, one)
		default:
			modules = append(modules, one)
		}
	}
	return modules, mandatory
}

// stateOf returns the worst state of the modules; one that is being removed makes the Kyma Processing.
func stateOf(kyma *v1beta2.Kyma, modules []moduleReasons) v1beta2.State {
	if kyma.DeletionTimestamp != nil {
		return v1beta2.StateDeleting
	}
	state := v1beta2.StateReady
	for _, module := range modules {
		if module.entry.State.Severity() > state.Severity() {
			state = module.entry.State
		}
	}
	if state == v1beta2.StateDeleting {
		return v1beta2.StateProcessing
	}
	return state
}

// ready counts the modules that are ready or unmanaged.
func ready(modules []moduleReasons) int {
	count := 0
	for _, module := range modules {
		if module.entry.State.Severity() == 0 {
			count++
		}
	}
	return count
}

// setConditions sets Ready and Modules and removes the condition of a webhook that does not exist.
func setConditions(w Snapshot, status *v1beta2.KymaStatus, modules, mandatory []moduleReasons) {
	status.Conditions = slices.DeleteFunc(status.Conditions, func(condition metav1.Condition) bool {
		return condition.Type == ConditionWebhook
	})
	ranked := rank(modules)
	set := func(kind string, holds bool, reason, message string) {
		value := metav1.ConditionFalse
		if holds {
			value = metav1.ConditionTrue
		}
		conditions.Set(&status.Conditions, kind, value, reason, message, w.Kyma.Generation, w.Now)
	}
	reason := reasonOf(w.Kyma, ranked)
	message := summary(w.Kyma, ranked, "modules", named)
	if w.Kyma.DeletionTimestamp != nil && len(modules) == 0 && len(mandatory) > 0 {
		message = summary(w.Kyma, rank(mandatory), "mandatory modules", named)
	}
	set(v1beta2.ConditionReady, status.State == v1beta2.StateReady, reason, message)
	if ready(modules) == len(modules) && w.Kyma.DeletionTimestamp == nil {
		set(v1beta2.ConditionModules, true, reason, v1beta2.MessageModulesReady)
	} else {
		set(v1beta2.ConditionModules, false, reason, v1beta2.MessageModulesNotReady)
	}
	setSigned(w, status, slices.Concat(modules, mandatory))
}

// setSigned sets the condition with the signature policy's result for the modules, or none where the policy requires nothing. It does not
// count for the state: a refused module reports the refusal itself, and a running one continues.
func setSigned(w Snapshot, status *v1beta2.KymaStatus, modules []moduleReasons) {
	judged, bad := 0, []string{}
	reason := v1beta2.ReasonVerified
	for _, module := range modules {
		signature := module.entry.Signature
		if signature == nil {
			continue
		}
		judged++
		if signature.Reason != v1beta2.ReasonVerified && signature.Reason != v1beta2.ReasonSignatureNotRequired {
			bad = append(bad, module.entry.Name+": "+signature.Reason)
			reason = signature.Reason
		}
	}
	switch {
	case judged == 0:
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == v1beta2.ConditionSigned })
	case len(bad) > 0:
		conditions.Set(&status.Conditions, v1beta2.ConditionSigned, metav1.ConditionFalse, reason,
			"not covered by trusted signatures: "+strings.Join(bad, ", ")+"; see condition Signed of the Manifest", w.Kyma.Generation, w.Now)
	default:
		conditions.Set(&status.Conditions, v1beta2.ConditionSigned, metav1.ConditionTrue, reason,
			v1beta2.MessageSignatureVerified, w.Kyma.Generation, w.Now)
	}
}

// notable reports whether a module has something to tell although what it runs may be ready: another version waits, was aborted, or gave
// way to an earlier one.
func (m moduleReasons) notable() bool {
	switch m.reason {
	case v1beta2.ReasonApprovalRequired, v1beta2.ReasonRequirementMissing, v1beta2.ReasonWouldBreak, v1beta2.ReasonRolloutAborted,
		v1beta2.ReasonRolledBack:
		return true
	}
	return m.entry.Maintenance || m.entry.Offered != ""
}

// rank sorts the modules by how much they need a user. Among equals, those that have something to tell come first.
func rank(modules []moduleReasons) []moduleReasons {
	weight := func(module moduleReasons) int {
		weight := 2 * module.entry.State.Severity()
		if module.notable() {
			weight++
		}
		return weight
	}
	ranked := slices.Clone(modules)
	slices.SortStableFunc(ranked, func(a, b moduleReasons) int { return cmp.Compare(weight(b), weight(a)) })
	return ranked
}

// reasonOf returns the reason of the condition: that of the worst module.
func reasonOf(kyma *v1beta2.Kyma, ranked []moduleReasons) string {
	switch {
	case kyma.DeletionTimestamp != nil:
		return v1beta2.ReasonDeleting
	case len(ranked) == 0:
		return v1beta2.ReasonNoModules
	case ranked[0].entry.State.Severity() == 0 && !ranked[0].notable():
		return v1beta2.ReasonReady
	default:
		return ranked[0].reason
	}
}

// summary returns the message of condition Ready: the number of ready modules, the worst of those that are not ready or have something to
// tell, at most limit, with their reasons, and the ready ones whose own resource reports a problem.
func summary(kyma *v1beta2.Kyma, ranked []moduleReasons, what string, limit int) string {
	open := 0
	for _, module := range ranked {
		if module.entry.State.Severity() > 0 || module.notable() {
			open++
		}
	}
	var text strings.Builder
	switch {
	case kyma.DeletionTimestamp != nil && len(ranked) == 0:
		return "all modules are gone"
	case kyma.DeletionTimestamp != nil:
		fmt.Fprintf(&text, "%s left to delete: %d", what, len(ranked))
	case len(ranked) == 0:
		return "the spec names no module"
	default:
		fmt.Fprintf(&text, "%d of %d %s ready", ready(ranked), len(ranked), what)
	}
	for _, module := range ranked[:min(open, limit)] {
		fmt.Fprintf(&text, "; %s: %s: %s", module.entry.Name, module.cause, module.entry.Message)
	}
	if open > limit {
		fmt.Fprintf(&text, "; and %d more", open-limit)
	}
	if kyma.DeletionTimestamp == nil {
		tellResources(&text, ranked)
	}
	return text.String()
}

// tellResources adds the modules that are ready by their objects but whose own resource reports a problem. That counts for the state only
// where readiness includes the resource, but a user needs the information in any case.
func tellResources(text *strings.Builder, ranked []moduleReasons) {
	count := 0
	for _, module := range ranked {
		entry := module.entry
		if entry.State != v1beta2.StateReady || entry.ResourceState != v1beta2.StateError && entry.ResourceState != v1beta2.StateWarning {
			continue
		}
		if count++; count > named {
			continue
		}
		fmt.Fprintf(text, "; %s: its own resource reports %s", entry.Name, entry.ResourceState)
		if entry.ResourceMessage != "" {
			fmt.Fprintf(text, ": %s", entry.ResourceMessage)
		}
	}
	if count > named {
		fmt.Fprintf(text, "; and %d more %s", count-named, english.PluralWord(count-named, "resource", ""))
	}
}

// setOperation sets upstream's operation texts. The time changes only with the text.
func setOperation(w Snapshot, status *v1beta2.KymaStatus) {
	var operation string
	switch status.State {
	case v1beta2.StateReady:
		operation = v1beta2.OperationKymaReady
	case v1beta2.StateDeleting:
		operation = v1beta2.OperationWaitingDeletion
	default:
		operation = v1beta2.OperationWaitingModules
	}
	if status.Operation != operation {
		status.LastOperation = v1beta2.LastOperation{Operation: operation, LastUpdateTime: w.Now.Rfc3339Copy()}
	}
}
