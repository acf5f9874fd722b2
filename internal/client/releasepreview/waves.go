package releasepreview

import (
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// waves answers who has to wait for a rollout that has just taken up the version. The zero value admits all.
type waves struct {
	rollout *v1beta2.ModuleRollout // with the status that it would have
	channel *v1beta2.RolloutChannel
	ask     Request
}

// waves plays the first steps of the module's rollout with the version.
func (f *Forecast) waves(all []prospect) waves {
	its := f.hub.Rollout
	if its == nil || !rollout.Governs(its, f.ask.Channel) {
		return waves{}
	}
	its = its.DeepCopy()
	made := waves{rollout: its, ask: f.ask}
	at := slices.IndexFunc(its.Status.Channels, func(c v1beta2.RolloutChannel) bool { return c.Name == f.ask.Channel })
	if at < 0 {
		at = len(its.Status.Channels)
		its.Status.Channels = append(its.Status.Channels, v1beta2.RolloutChannel{Name: f.ask.Channel})
	}
	made.channel = &its.Status.Channels[at]
	plan, err := rollout.Compile(&its.Spec)
	if err != nil || made.channel.To.Version == f.ask.Version {
		return made // it says itself who waits
	}
	facts := rollout.Facts{Members: f.applicants(all), Armed: true, Now: f.hub.Now}
	if made.channel.To.Version == "" && f.before != "" {
		facts.Offered = v1beta2.RolloutVersion{Version: f.before}
		*made.channel = rollout.Next(plan, *made.channel, facts).Channel
	}
	facts.Offered = v1beta2.RolloutVersion{Version: f.ask.Version}
	if f.content != nil {
		facts.Offered.Digest = revision.Digest(f.content)
	}
	*made.channel = rollout.Next(plan, *made.channel, facts).Channel
	its.Status.ObservedGeneration = its.Generation
	return made
}

// applicants returns the members as a rollout sees them.
func (f *Forecast) applicants(all []prospect) []rollout.Member {
	members := make([]rollout.Member, 0, len(all))
	for i := range all {
		one := &all[i]
		kyma := one.member.Kyma
		m := rollout.Member{
			UID: string(kyma.UID), Name: kyma.Name, Labels: kyma.Labels, Created: kyma.CreationTimestamp.Time, Held: held[one.fate.outcome],
		}
		if one.fate.outcome == Unreachable {
			m.LostSince = f.hub.Now
		}
		m.Begun, m.Ready = one.step.samever, one.step.samever
		members = append(members, m)
	}
	return members
}

// held is what keeps a Kyma from beginning, for its rollout.
var held = map[Outcome]string{
	NeedsConsent: rollout.HeldByConsent, WaitsForWindow: rollout.HeldByWindow, RequirementMissing: rollout.HeldByRequirement,
	WouldBreak: rollout.HeldByRequirement, Refused: rollout.HeldByRefusal, Removed: rollout.HeldByRefusal, Downgrade: rollout.HeldByRefusal,
	Avoids: rollout.HeldByRefusal, Leaving: rollout.HeldByDeletion, Suspended: rollout.HeldBySuspension,
}

// waits reports whether a member has to wait for the rollout, and for what.
func (w waves) waits(one *prospect) (fate, bool) {
	if w.rollout == nil || !comes(one.fate.outcome) {
		return fate{}, false
	}
	kyma := one.member.Kyma
	answer := rollout.Ask(w.rollout, string(w.rollout.UID), w.ask.Channel, w.ask.Version, rollout.Applicant{
		UID: string(kyma.UID), Labels: kyma.Labels, Running: one.step.version,
	})
	beginsNow := one.fate.outcome == Upgrades || one.fate.outcome == Installs
	if answer.Allowed || answer.NoSlot && !beginsNow { // what else holds it is told first
		return fate{}, false
	}
	made := fate{outcome: WaitsForRollout, reason: v1beta2.ReasonWaitingForRollout, detail: answer.Detail}
	wave, err := rollout.WaveOf(&w.rollout.Spec, w.channel, string(kyma.UID), kyma.Labels)
	switch {
	case err != nil || w.rollout.Spec.Paused || !answer.NoSlot && (w.channel.Wave == wave || w.channel.Wave == ""):
		// The answer itself says best what it waits for.
	case answer.NoSlot:
		made.detail = fmt.Sprintf("wave %q, for a free place in it", wave)
	default:
		made.detail = fmt.Sprintf("wave %q", wave)
	}
	return made, true
}
