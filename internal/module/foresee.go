package module

import (
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// foresee completes what the verdicts tell of consent where rule 14b did not look at the version that is offered:
//
//   - A version whose wave has not begun is looked at already: a person can agree in time, and the rollout gives its places to Kymas that
//     can use them. What is installed does not depend on it.
//   - A version that is not known in this pass, such as one whose release is gone for a moment, keeps what was told of it, its deadline
//     above all.
func (r *resolver) foresee(verdicts []Verdict) []Verdict {
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case v.Mandatory || v.Kind == Removed || v.Kind == Unmanaged || v.Kind == Run && v.Consent == "":
		case r.held(v).closed() && v.Reason == v1beta2.ReasonWaitingForRollout:
			r.foreseeOffered(v)
		case v.Consent == "":
			r.keepPending(v)
		}
	}
	return verdicts
}

// foreseeOffered tells of the consent to the version that a rollout holds back.
func (r *resolver) foreseeOffered(v *Verdict) {
	spec, held := r.spec[v.Module], r.held(v)
	if spec == nil {
		return
	}
	offer := target{
		Channel: moduleRequestOf(r.Snapshot.Kyma, spec).Channel, Version: held.offered,
		Component: r.targets[targetKey{v.Module, v.Mandatory}].Component,
	}
	v.Pending = nil
	if !r.asksConsent(v) {
		return
	}
	var refused *refusal
	offer.Template, refused = r.templateFor(v, offer.Version)
	if refused != nil || v.Manifest != nil && moduleversion.IsDowngrade(v.Manifest.Spec.Version, offer.Version) {
		return
	}
	component := r.content(offer.key(), v.Manifest)
	if component.Pending || component.Reason != "" {
		r.keepPending(v)
		return
	}
	d := r.consentTo(v, offer, component)
	v.Consent = d.consent
	r.tellConsent(v, &d)
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
