package module

import (
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// foresee completes what the verdicts tell of requirements and consent where rules 14a and 14b did not look at the version that is offered:
//
//   - A version whose wave has not begun is looked at already: a person can act in time, and the rollout gives its places to Kymas that can
//     use them. What is installed does not depend on it.
//   - A version that is not known in this pass, such as one whose release is gone for a moment, keeps what was told of it, its deadline
//     above all.
func (r *resolver) foresee(verdicts []Verdict) []Verdict {
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case v.Mandatory || v.Kind == Removed || v.Kind == Unmanaged || v.Kind == Run && v.Consent == "":
		case r.held(v).closed() && v.Reason == v1beta2.ReasonWaitingForRollout:
			r.foreseeOffered(v, verdicts)
		case v.Consent == "":
			r.keepPending(v)
		}
	}
	return verdicts
}

// foreseeOffered tells of what is missing to the version that a rollout holds back: what it requires, and consent.
func (r *resolver) foreseeOffered(v *Verdict, verdicts []Verdict) {
	spec, held := r.spec[v.Module], r.held(v)
	if spec == nil {
		return
	}
	offer := target{
		Channel: moduleRequestOf(r.Snapshot.Kyma, spec).Channel, Version: held.offered,
		Component: r.targets[targetKey{v.Module, v.Mandatory}].Component,
	}
	v.Pending = nil
	var refused *refusal
	offer.Template, refused = r.templateFor(v, offer.Version)
	if refused != nil || v.Manifest != nil && moduleversion.IsDowngrade(v.Manifest.Spec.Version, offer.Version) {
		return
	}
	if !r.asksConsent(v) { // the component is not read before its wave: a broken one is a matter of the canaries
		r.foreseeMissing(v, offer, requiresOf(offer.Template, r.Components[offer.key()]), verdicts)
		return
	}
	component := r.content(offer.key(), v.Manifest)
	r.foreseeMissing(v, offer, requiresOf(offer.Template, component), verdicts)
	if component.Pending || component.Reason != "" {
		r.keepPending(v)
		return
	}
	d := r.consentTo(v, offer, component)
	v.Consent = d.consent
	r.tellConsent(v, &d)
}

// foreseeMissing tells what is missing that a version requires. A definition that is not known is not looked at before the wave begins:
// that takes a stream of every Kyma.
func (r *resolver) foreseeMissing(v *Verdict, offer target, list []requirements.Requirement, verdicts []Verdict) {
	if len(list) == 0 {
		return
	}
	r.needs.later = append(r.needs.later, list...)
	missing := slices.DeleteFunc(r.newMoves(verdicts).unmetNow(list), func(one requirements.Missing) bool {
		return one.Unknown && one.Module == ""
	})
	if len(missing) > 0 {
		v.note(ruleRequirementMissing.message("version", offer.Version, "detail", missingDetail(missing)))
	}
}

// keepPending tells again what was told of the version that a module would get, unless that is known to be another one by now.
func (r *resolver) keepPending(v *Verdict) {
	before := r.pendingBefore(v)
	if before == nil || v.Back != "" || terminating(v.Manifest) || leaving(v.Manifest) {
		return
	}
	now := r.targets[targetKey{v.Module, v.Mandatory}]
	version := now.Version
	if now.admission.closed() {
		version = now.admission.offered
	}
	if version == "" || version == before.Version {
		v.Pending = before.DeepCopy()
	}
}

// awaitsAlready tells again that a version waits for consent while its component is being read again, as after a restart. It reports
// whether it did.
func (r *resolver) awaitsAlready(v *Verdict, key ComponentKey) bool {
	before := r.pendingBefore(v)
	if before == nil || before.Version != key.Version || len(before.From) == 0 {
		return false
	}
	r.enforce(v)
	v.is(Waiting, ruleApprovalRequired, r.toldBefore(v, key.Version))
	v.Pending, v.Consent = before.DeepCopy(), ConsentUnknown
	return true
}

// pendingOf returns the version that an entry of the status says to wait.
func pendingOf(v *Verdict, result Result) *v1beta2.PendingVersion {
	if v.Kind == Run && result.Reason == "" {
		return nil // it has begun
	}
	return v.Pending
}

// AwaitsConsent reports whether an entry of the status says that a version waits for consent.
func AwaitsConsent(entry *v1beta2.ModuleStatus, version string) bool {
	return entry != nil && entry.Pending != nil && entry.Pending.Version == version && len(entry.Pending.From) > 0
}

// beginning returns the part of a rule's message before its detail.
func (r rule) beginning(version string) string {
	before, _, _ := strings.Cut(r.message("version", version), "{detail}")
	return before
}
