package modulerollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// target is what a channel offers.
type target struct {
	v1beta2.RolloutVersion
	template *v1beta2.ModuleTemplate
}

// candidate is a Kyma that follows a channel, with what the cache holds of the module in it.
type candidate struct {
	kyma   *v1beta2.Kyma
	module string
	// entry of the Kyma's status; nil for a mandatory module, which has none, and for one that the Kyma was not resolved for yet.
	entry     *v1beta2.ModuleStatus
	manifest  *v1beta2.Manifest
	mandatory bool
}

// record is what is kept of a Kyma between two passes.
type record struct {
	// channel that the Kyma follows, and version that it offers.
	channel, version string
	// member is complete but for the maintenance window, which depends on the time.
	member rollout.Member
	// windowed is true for an upgrade that may begin only in a maintenance window.
	windowed bool
}

// newRecord returns the facts about a Kyma and a target. before is what was known of the Kyma and the same target, nil for nothing; refusal
// is the reason for which the Kyma cannot have the target, empty when it can.
func newRecord(c candidate, channel string, t *target, before *record, refusal string, now time.Time) *record {
	r := &record{channel: channel, version: t.Version, member: rollout.Member{
		UID: string(c.kyma.UID), Name: c.kyma.Name, Labels: c.kyma.Labels, Created: c.kyma.CreationTimestamp.Time,
		Begun: asks(c.manifest, t) || runs(c.manifest, t),
	}}
	m := &r.member
	began, known := beganAt(c.manifest, t)
	if m.Begun {
		m.Ready, m.At = c.ready(t), began.At.Time
		if !known {
			m.At = firstSeen(c.manifest, before, now)
		}
		m.BrokenBefore = known && began.Before != "" && began.Before != v1beta2.StateReady
		c.judge(m, began.Outcome == v1beta2.RevisionSucceeded, before, now)
	} else {
		m.BrokenBefore = c.manifest != nil && module.ModuleState(c.manifest) != v1beta2.StateReady
		m.RolledBack = c.rolledBack(t)
		if m.Back = known && c.manifest != nil && moduleversion.IsLower(c.manifest.Spec.Version, t.Version); m.Back {
			m.BackSince = newest(c.manifest)
		}
	}
	m.LostSince = sinceSeen(before, lostSince(c, m.At), now)
	m.Held = c.held(m.Begun, t, refusal)
	m.FreeSince, m.SeenSince = freeSince(m, before, now), seenSince(m, before, now)
	m.State, m.Reason, m.Message = c.report()
	if !m.Begun {
		m.Message = c.obstacle()
	}
	r.windowed = !m.Begun && m.Held == "" && c.needsWindow(t)
	return r
}

// judge sets since when a Kyma that has begun is ready, or is not any more. succeeded is true when the target was ready once.
func (c candidate) judge(m *rollout.Member, succeeded bool, before *record, now time.Time) {
	var was rollout.Member
	if before != nil && before.member.Begun {
		was = before.member
	}
	switch {
	case m.Ready:
		m.ReadySince = latest(was.ReadySince, m.At, transition(c.manifest, metav1.ConditionTrue))
		if before != nil && !was.Ready {
			m.ReadySince = now // the Kyma has more to say about it than the Manifest
		}
	case succeeded || was.Ready || !was.UnreadySince.IsZero():
		m.UnreadySince = was.UnreadySince
		if m.UnreadySince.IsZero() && c.manifest.Status.State != v1beta2.StateReady {
			m.UnreadySince = transition(c.manifest, metav1.ConditionFalse)
		}
		if m.UnreadySince.IsZero() {
			m.UnreadySince = now
		}
	}
}

// transition returns since when a Manifest's condition Ready has a status, zero when it has another.
func transition(manifest *v1beta2.Manifest, status metav1.ConditionStatus) time.Time {
	if ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil && ready.Status == status {
		return ready.LastTransitionTime.Time
	}
	return time.Time{}
}

// newest returns when the newest revision of a Manifest began, zero when there is none.
func newest(manifest *v1beta2.Manifest) time.Time {
	if all := manifest.Status.Revisions; len(all) > 0 {
		return all[len(all)-1].At.Time
	}
	return time.Time{}
}

// latest returns the latest of some times.
func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}

// asks reports whether a Manifest asks for the target, whatever content of that version it was given.
func asks(manifest *v1beta2.Manifest, t *target) bool {
	return manifest != nil && manifest.Spec.Version == t.Version
}

// runs reports whether the target is what was brought up last, although something else is asked for by now.
func runs(manifest *v1beta2.Manifest, t *target) bool {
	return manifest != nil && manifest.Status.InstalledVersion == t.Version && manifest.Spec.Version != t.Version
}

// beganAt returns the last revision of a Manifest that was for the target.
func beganAt(manifest *v1beta2.Manifest, t *target) (v1beta2.Revision, bool) {
	if manifest == nil {
		return v1beta2.Revision{}, false
	}
	for _, one := range slices.Backward(manifest.Status.Revisions) {
		if one.Version == t.Version {
			return one, true
		}
	}
	return v1beta2.Revision{}, false
}

// firstSeen returns when a Kyma began whose Manifest does not say it: a moment ago, when it was seen before it began or its spec was not
// looked at yet, else long ago.
func firstSeen(manifest *v1beta2.Manifest, before *record, now time.Time) time.Time {
	switch {
	case before == nil && manifest.Status.ObservedGeneration != manifest.Generation:
		return now
	case before == nil:
		return time.Time{}
	case before.member.Begun:
		return before.member.At
	default:
		return now
	}
}

// ready reports whether the Kyma says of the target that it runs. A mandatory module is only in its Manifest, which says whether the
// module's custom resource counts.
func (c candidate) ready(t *target) bool {
	m := c.manifest
	if m == nil || m.Spec.Version != t.Version || m.DeletionTimestamp != nil ||
		m.Status.ObservedGeneration != m.Generation || m.Status.State != v1beta2.StateReady {
		return false
	}
	if c.mandatory {
		return !module.CountsResource(m) || module.ResourceReady(m)
	}
	return c.entry != nil && c.entry.Version == t.Version && c.entry.State == v1beta2.StateReady
}

// rolledBack reports whether the module went back from the target by itself.
func (c candidate) rolledBack(t *target) bool {
	if c.entry == nil || c.entry.Avoid == "" {
		return false
	}
	version, _, _ := strings.Cut(c.entry.Avoid, "@")
	return version == t.Version
}

// lostSince returns since when the runtime of a Kyma cannot be used, zero when it can: the later time of those that the Kyma and its
// Manifest tell, as each may have been unready for another reason before.
func lostSince(c candidate, began time.Time) time.Time {
	var since time.Time
	told := [][]metav1.Condition{c.kyma.Status.Conditions}
	if c.manifest != nil {
		told = append(told, c.manifest.Status.Conditions)
	}
	for _, conds := range told {
		ready := conditions.Find(conds, v1beta2.ConditionReady)
		if !module.IsLost(ready) {
			continue
		}
		for _, at := range []time.Time{ready.LastTransitionTime.Time, c.kyma.CreationTimestamp.Time, began} {
			if at.After(since) {
				since = at
			}
		}
	}
	return since
}

// sinceSeen bounds since when a runtime is lost by what was seen of it: a Kyma that was unready for another reason keeps the time of that.
func sinceSeen(before *record, since, now time.Time) time.Time {
	switch {
	case since.IsZero() || before == nil:
		return since
	case before.member.LostSince.IsZero():
		return now
	}
	return latest(before.member.LostSince, since)
}

// held returns what keeps the Kyma from the target, beside its window.
func (c candidate) held(begun bool, t *target, refusal string) string {
	m := c.manifest
	switch {
	case c.kyma.DeletionTimestamp != nil,
		m != nil && (m.DeletionTimestamp != nil || m.Annotations[v1beta2.AnnotationIsUnmanaged] == v1beta2.EnabledValue):
		return rollout.HeldByDeletion
	case module.KymaSuspended(c.kyma), m != nil && module.ManifestSuspended(m):
		return rollout.HeldBySuspension
	case begun:
		return ""
	case refusal != "", m != nil && moduleversion.IsDowngrade(m.Spec.Version, t.Version):
		return rollout.HeldByRefusal
	case module.AwaitsConsent(c.entry, t.Version):
		return rollout.HeldByConsent
	case module.HeldByRequirement(c.kyma, c.entry, c.module, t.Version):
		return rollout.HeldByRequirement
	}
	return ""
}

// freeSince returns when a suspension ended that was seen.
func freeSince(m *rollout.Member, before *record, now time.Time) time.Time {
	switch {
	case before == nil || m.Held == rollout.HeldBySuspension:
		return time.Time{}
	case before.member.Held == rollout.HeldBySuspension:
		return now
	}
	return before.member.FreeSince
}

// seenSince returns since when this owner has seen a Kyma that had begun by then and was not ready; zero for any other.
func seenSince(m *rollout.Member, before *record, now time.Time) time.Time {
	switch {
	case before != nil:
		return before.member.SeenSince
	case m.Begun && !m.Ready:
		return now
	}
	return time.Time{}
}

// needsWindow reports whether the target replaces another version in a maintenance window only.
func (c candidate) needsWindow(t *target) bool {
	return !c.mandatory && t.template != nil && t.template.Spec.RequiresDowntime && !module.SkipsWindows(c.kyma) &&
		c.manifest != nil && c.manifest.Spec.Version != t.Version
}

// report returns the state of the module, for people: the Kyma's word, or the Manifest's where the Kyma says nothing.
func (c candidate) report() (state v1beta2.State, reason, message string) {
	if c.manifest != nil {
		state = c.manifest.Status.State
		if ready := conditions.Find(c.manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil {
			reason, message = ready.Reason, ready.Message
		}
	}
	if c.entry != nil {
		state, reason = c.entry.State, cmp.Or(c.entry.Reason, reason)
		if c.entry.Message != "" {
			message = c.entry.Message
		}
	}
	return state, reason, message
}

// obstacle returns why a Kyma does not begin, as far as it says so: of the module, or of all of its modules.
func (c candidate) obstacle() string {
	if c.entry != nil && c.entry.Message != "" {
		return c.entry.Message
	}
	if ready := conditions.Find(c.kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil && ready.Status != metav1.ConditionTrue {
		return ready.Message
	}
	return ""
}
