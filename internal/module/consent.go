package module

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// Consent is what rule 14b found about the content that a module would get.
type Consent string

// What rule 14b can find. The empty Consent means that an earlier rule decided.
const (
	// ConsentNotNeeded: neither an entry nor the policy asks for it.
	ConsentNotNeeded Consent = "NotNeeded"
	// ConsentGiven: all that asked for it have it.
	ConsentGiven Consent = "Given"
	// ConsentForced: the time is over for which the channel lets it wait, and only upgradeStrategy asked for consent.
	ConsentForced Consent = "Forced"
	// ConsentMissing: it waits.
	ConsentMissing Consent = "Missing"
	// ConsentUnknown: it waits until it is known what it asks for, or what the runtime's user says.
	ConsentUnknown Consent = "Unknown"
)

// EntryConsent is what an entry of a Kyma's spec says about consent.
type EntryConsent struct {
	Strategy v1beta2.UpgradeStrategy
	// Approved is the reference of the version that a person agreed to.
	Approved string
}

// ConsentIn returns what the entries of a spec say about consent, by module; those that say nothing are left out. Of two entries of one
// module the first counts.
func ConsentIn(spec *v1beta2.KymaSpec) map[string]EntryConsent {
	said, known := map[string]EntryConsent{}, map[string]bool{}
	for i := range spec.Modules {
		entry := &spec.Modules[i]
		if one := (EntryConsent{Strategy: entry.UpgradeStrategy, Approved: entry.Approved}); one != (EntryConsent{}) && !known[entry.Name] {
			said[entry.Name] = one
		}
		known[entry.Name] = true
	}
	return said
}

// consentNeed is the consent that one content of a module needs.
type consentNeed struct {
	step step
	// consent is what was found.
	consent Consent
	// lacking are the demands that are not met: each by one side, or by either of two.
	lacking [][]v1beta2.ConsentSide
	// policy is true where a rule of the policy is among them.
	policy bool
	// change is what the content asks for, where that matters.
	change Change
	// downtime is true where the content also waits for a maintenance window.
	downtime bool
	// deadline is when what only upgradeStrategy asks for counts as given; nil for never. waits is true where that is still to come and
	// matters.
	deadline *metav1.Time
	waits    bool
	// forced is true where the deadline took the place of consent.
	forced bool
}

// free reports whether the content may be installed as far as consent goes.
func (d *consentNeed) free() bool { return d.consent != ConsentMissing && d.consent != ConsentUnknown }

// reference returns what a person agrees to.
func (d *consentNeed) reference() string {
	return revision.Reference(d.step.to.Version, d.step.to.Digest)
}

// from returns the sides whose consent is missing, and whether one of them is enough.
func (d *consentNeed) from() (sides []v1beta2.ConsentSide, either bool) {
	for _, demanded := range d.lacking {
		if len(demanded) == 1 && !slices.Contains(sides, demanded[0]) {
			sides = append(sides, demanded[0])
		}
	}
	if len(sides) == 0 && len(d.lacking) > 0 {
		return d.lacking[0], len(d.lacking[0]) > 1
	}
	slices.Sort(sides)
	return sides, false
}

// unapproved implements rule 14b: it holds back a version that needs consent, keeps what is installed, and reports whether it did.
//
// Two parties ask for consent, each for itself:
//
//   - An entry whose upgradeStrategy is Manual, on the hub or in the runtime, for what a channel offers: a pinned version is a person's
//     choice, and what is not installed yet is a choice, too. The same side's approved releases it, or the deadline of the channel.
//   - Every rule of the policy that matches, for any version, where what the version asks for triggers it. One of the rule's sides releases
//     it.
//
// What the Manifest asks for already needs none, whatever asks for it since; neither does a mandatory module: the rollout of its release
// can ask for approval. Consent is for a version and a digest, so that the same version with other content needs it again.
func (r *resolver) unapproved(v *Verdict, found target, component Component) bool {
	d := r.consentTo(v, found, component)
	v.Consent = d.consent
	r.tellConsent(v, &d)
	if d.free() {
		return false
	}
	follows := found.Channel != "" && found.Channel == v.Channel || found.Release != ""
	r.enforce(v)
	r.awaitConsent(v, &d, follows)
	return true
}

// consented reports whether a content may be installed as far as consent goes. It guards content that is put back or kept, which may have
// been published again since.
func (r *resolver) consented(v *Verdict, found target, component Component) bool {
	d := r.consentTo(v, found, component)
	return d.free()
}

// consentTo returns the consent that a content of the verdict's module needs.
func (r *resolver) consentTo(v *Verdict, found target, component Component) consentNeed {
	if v.Mandatory || !r.mayNeedConsent(v) {
		return consentNeed{consent: ConsentNotNeeded}
	}
	d := consentNeed{step: r.stepTo(v, found, component), downtime: r.waitsForWindow(v, found)}
	if d.step.key.From == d.step.key.To || r.puttingBack(v, &d.step) {
		d.consent = ConsentNotNeeded
		return d
	}
	first := v.Manifest == nil && (v.Version == "" || v.Version == found.Version)
	given, unread := false, false
	switch {
	case r.isTakenOut(v):
		d.lacking = append(d.lacking, []v1beta2.ConsentSide{v1beta2.ConsentHub}) // no entry is left that could agree
	case r.followsChannel(v) && !first:
		given, unread = r.manually(v, found, &d)
	}
	byRule, unknown := r.byPolicy(v, first, &d)
	switch {
	case unread || unknown:
		d.consent = ConsentUnknown
	case len(d.lacking) > 0:
		d.consent = ConsentMissing
	case d.forced:
		d.consent = ConsentForced
	case given || byRule:
		d.consent = ConsentGiven
	default:
		d.consent = ConsentNotNeeded
	}
	return d
}

// waitsForWindow reports whether an upgrade to the target begins in a maintenance window only.
func (r *resolver) waitsForWindow(v *Verdict, found target) bool {
	return found.Template.Spec.RequiresDowntime && !r.Snapshot.Kyma.Spec.SkipMaintenanceWindows &&
		v.Version != "" && v.Version != found.Version
}

// mayNeedConsent reports whether consent to any content of a module may be missing, which saves the digests of most modules.
func (r *resolver) mayNeedConsent(v *Verdict) bool {
	return r.asksConsent(v) || r.followsChannel(v) && r.runtimeUnread()
}

// asksConsent reports whether an entry or the policy may ask for consent to a content of a module.
func (r *resolver) asksConsent(v *Verdict) bool {
	if len(r.Approvals.rulesFor(v.Module, r.Snapshot.Kyma.Labels, false)) > 0 {
		return true
	}
	return r.isTakenOut(v) || r.followsChannel(v) && r.isManual(v.Module)
}

// isManual reports whether one of the two entries of a module says that new versions wait for a person.
func (r *resolver) isManual(module string) bool {
	hub, runtime := r.sayings(module)
	return hub.Strategy == v1beta2.UpgradeManual || runtime.Strategy == v1beta2.UpgradeManual
}

// waitsForPerson reports whether new versions of a module wait for a person. What is not known now, or has no entry any more, is as it was
// noted in the Manifest.
func (r *resolver) waitsForPerson(v *Verdict) bool {
	noted := v.Manifest != nil && v.Manifest.Annotations[v1beta2.AnnotationUpgradeStrategy] == string(v1beta2.UpgradeManual)
	if r.spec[v.Module] == nil {
		return noted
	}
	return r.isManual(v.Module) || noted && r.runtimeUnread()
}

// isTakenOut reports whether a module is not in the spec any more, and waited for a person when it was.
func (r *resolver) isTakenOut(v *Verdict) bool { return v.Manual && r.spec[v.Module] == nil }

// followsChannel reports whether the spec has a module follow a channel or a release. It decides also about what is kept, whatever that
// came from.
func (r *resolver) followsChannel(v *Verdict) bool {
	entry := r.spec[v.Module]
	return entry != nil && entry.Version == ""
}

// sayings returns what the two entries of a module say. A Kyma without a copy in a runtime has only the hub's, whose user speaks for both.
func (r *resolver) sayings(module string) (hub, runtime EntryConsent) {
	if entry := r.spec[module]; entry != nil {
		hub = EntryConsent{Strategy: entry.UpgradeStrategy, Approved: entry.Approved}
	}
	switch {
	case !Synced(r.Snapshot.Kyma):
		return hub, EntryConsent{Approved: hub.Approved}
	case r.RuntimeUnread:
		return hub, EntryConsent{}
	}
	return hub, r.RuntimeConsent[module]
}

// runtimeUnread reports whether it is not known what the runtime's user says: then nothing new begins that the user may have held.
func (r *resolver) runtimeUnread() bool { return r.RuntimeUnread && Synced(r.Snapshot.Kyma) }

// puttingBack reports whether a content is what ran in the same version before the Manifest was edited by hand: its revisions show it.
func (r *resolver) puttingBack(v *Verdict, s *step) bool {
	return v.Manifest != nil && v.Version == s.to.Version &&
		slices.ContainsFunc(v.Manifest.Status.Revisions, func(one v1beta2.Revision) bool {
			return one.Outcome == v1beta2.RevisionSucceeded && one.Version == s.to.Version && one.Digest == s.to.Digest
		})
}

// manually adds what the upgradeStrategy of both sides asks for. It reports whether that has been given, and whether the runtime's is not
// known.
func (r *resolver) manually(v *Verdict, found target, d *consentNeed) (given, unread bool) {
	hub, runtime := r.sayings(v.Module)
	asked := false
	for _, one := range []struct {
		side v1beta2.ConsentSide
		said EntryConsent
	}{{v1beta2.ConsentHub, hub}, {v1beta2.ConsentRuntime, runtime}} {
		if one.said.Strategy == v1beta2.UpgradeManual {
			asked = true
			if one.said.Approved != d.reference() {
				d.lacking = append(d.lacking, []v1beta2.ConsentSide{one.side})
			}
		}
	}
	unread = r.runtimeUnread()
	r.setDeadline(v, found, d)
	if (len(d.lacking) > 0 || unread) && d.overdue(r.Now.Time) {
		d.lacking, d.forced = nil, true
		return false, false
	}
	return asked && len(d.lacking) == 0, unread
}

// setDeadline keeps the deadline that was written for the digest, or sets one where the channel's version has one and upgradeStrategy holds
// it. When the channel does not force the version any more, there is none.
func (r *resolver) setDeadline(v *Verdict, found target, d *consentNeed) {
	forceAfter := r.forceAfter(v.Module, found)
	if forceAfter <= 0 {
		return
	}
	before := r.pendingBefore(v)
	switch {
	case before != nil && before.Digest == d.step.to.Digest && before.Deadline != nil:
		d.deadline = before.Deadline
	case len(d.lacking) > 0:
		at := metav1.NewTime(r.Now.Add(forceAfter)).Rfc3339Copy()
		d.deadline = &at
	}
	d.waits = d.deadline != nil && !d.overdue(r.Now.Time) && (len(d.lacking) > 0 || r.runtimeUnread())
}

// overdue reports whether the deadline has passed.
func (d *consentNeed) overdue(now time.Time) bool {
	return d.deadline != nil && !now.Before(d.deadline.Time)
}

// forceAfter returns how long the version that a channel offers waits for consent that only upgradeStrategy asks for; zero for any other
// version, and where it waits for ever.
func (r *resolver) forceAfter(module string, found target) time.Duration {
	release := r.Releases[module]
	if release == nil {
		return 0
	}
	for _, offer := range release.Spec.Channels {
		if offer.Channel == found.Channel && offer.Version == found.Version && offer.ForceAfter != nil {
			return offer.ForceAfter.Duration
		}
	}
	return 0
}

// byPolicy adds what the rules of the policy ask for, and finds out what the content asks for where that matters. It reports whether a rule
// has its consent, and whether it cannot be said yet.
func (r *resolver) byPolicy(v *Verdict, first bool, d *consentNeed) (given, unknown bool) {
	hub, runtime := r.sayings(v.Module)
	var depending []*ApprovalRule
	for _, rule := range r.Approvals.rulesFor(v.Module, r.Snapshot.Kyma.Labels, first) {
		mayRuntime := slices.Contains(rule.By, v1beta2.ConsentRuntime)
		switch {
		case slices.Contains(rule.By, v1beta2.ConsentHub) && hub.Approved == d.reference(), mayRuntime && runtime.Approved == d.reference():
			given = true
		case mayRuntime && r.runtimeUnread():
			unknown = true
		case rule.always():
			d.lacking, d.policy = append(d.lacking, r.sidesOf(rule)), true
		default:
			depending = append(depending, rule)
		}
	}
	if len(d.lacking) == 0 && len(depending) == 0 {
		return given, unknown
	}
	d.change = r.change(v, &d.step)
	for _, rule := range depending {
		if d.change.Problem != "" || rule.triggeredBy(&d.change) {
			d.lacking, d.policy = append(d.lacking, r.sidesOf(rule)), true
		}
	}
	return given, unknown || d.change.Pending
}

// sidesOf returns the sides that may meet a rule, sorted. Without a copy in a runtime there is only the hub.
func (r *resolver) sidesOf(rule *ApprovalRule) []v1beta2.ConsentSide {
	if !Synced(r.Snapshot.Kyma) {
		return []v1beta2.ConsentSide{v1beta2.ConsentHub}
	}
	sides := slices.Clone(rule.By)
	slices.Sort(sides)
	return slices.Compact(sides)
}
