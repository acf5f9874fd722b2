package rollout

import (
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Next returns a channel's next status. Its result depends on its arguments alone, and given that result and the same facts again it
// changes nothing.
//
// The soak of a wave runs from the time at which all of its Kymas that can be were ready for the first time. One that is unready
// afterwards does not set it back; but the wave does not pass while one is, nor before each was ready without a break for five minutes (or
// the soak, when that is shorter). One that is up and down for progressDeadline after the soak fails. So a flapping Kyma neither stalls a
// wave for ever nor passes unnoticed. After a resume the soak begins anew.
func Next(plan *Plan, before v1beta2.RolloutChannel, facts Facts) Step {
	if facts.Offered.Version == "" {
		return Step{Channel: before, Awaited: map[string]Wait{}}
	}
	if !Same(before.To, facts.Offered) {
		facts.Awaited = nil // It was for another target.
	}
	s := newStepper(plan, &before, &facts)
	s.decide()
	s.judgeAll()
	s.pruneUnderway()
	s.watchFailures()
	if !isFinal(s.channel.Phase) && !isStopped(s.channel.Phase) {
		s.advance()
	}
	switch {
	case isStopped(s.channel.Phase):
		s.takeBack()
	case s.channel.Phase == v1beta2.RolloutProgressing:
		s.admit()
	default:
		s.channel.Open = false
	}
	s.await()
	s.report()
	return s.step
}

// stepper makes one step.
type stepper struct {
	plan   *Plan
	facts  *Facts
	before *v1beta2.RolloutChannel
	now    time.Time

	channel v1beta2.RolloutChannel      // the status that is being made
	waves   []v1beta2.RolloutWaveStatus // one for each wave of the plan, with the numbers of the status
	current int                         // wave under way, by its place in the plan; len(waves) when all have passed
	sorter  sorter

	underway map[string]*place // by UID prefix
	judged   []judgement       // one for each member
	held     pending
	worst    []failure
	notes    []string
	message  string
	step     Step
}

// place is what was seen of a Kyma that is named in underway.
type place struct{ seen, ended bool }

// pending counts what keeps the current wave.
type pending struct {
	holding  int      // have not ended, or wait for a place
	delaying int      // were ready, and are not, or not for long enough
	running  int      // have begun and not ended, without a place in underway
	blocking []string // have a place and cannot begin
}

func newStepper(plan *Plan, before *v1beta2.RolloutChannel, facts *Facts) *stepper {
	s := &stepper{plan: plan, facts: facts, before: before, now: facts.Now, channel: beginTarget(plan, before, facts)}
	s.sorter = newSorter(plan, &s.channel)
	s.sorter.freeze(facts.Members)
	s.waves = make([]v1beta2.RolloutWaveStatus, len(plan.waves))
	for at := range plan.waves {
		s.waves[at].Name = plan.waves[at].name
		if known := findWave(&s.channel, s.waves[at].Name); known >= 0 {
			s.waves[at].Since, s.waves[at].Soaking = s.channel.Waves[known].Since, s.channel.Waves[known].Soaking
		}
		s.waves[at].Cut = s.sorter.cuts[at].String()
	}
	s.current = s.locate()
	s.underway = make(map[string]*place, len(s.channel.Underway))
	for _, prefix := range s.channel.Underway {
		s.underway[prefix] = &place{}
	}
	return s
}

// beginTarget returns the status to go on with: the one before, or that of a new target.
func beginTarget(plan *Plan, before *v1beta2.RolloutChannel, facts *Facts) v1beta2.RolloutChannel {
	offered := facts.Offered
	if before.To.Version != "" && Same(before.To, offered) {
		next := *before.DeepCopy()
		if offered.Digest != "" {
			next.To.Digest = offered.Digest
		}
		if next.Phase == v1beta2.RolloutCompleted {
			next.From = next.To
		}
		return next
	}
	next := v1beta2.RolloutChannel{Name: before.Name, To: offered, Since: floor(facts.Now), Phase: v1beta2.RolloutProgressing}
	if before.To.Version == "" {
		// The rollout was made after the move: what the channel names is let go, unless the plan says to stop it.
		next.From, next.Phase = offered, v1beta2.RolloutCompleted
		if plan.paused {
			next.Phase = v1beta2.RolloutWaiting
		}
		return next
	}
	next.From = LastCompleted(before)
	if isReturn(next.From, offered) || next.From.Version == "" && moduleversion.IsLower(offered.Version, before.To.Version) {
		next.From, next.Phase = offered, v1beta2.RolloutAborted
		next.Cause = fmt.Sprintf("the channel was set back from %s: Kymas that have it keep it", before.To.Version)
		if before.Phase == v1beta2.RolloutCompleted {
			next.Phase = v1beta2.RolloutCompleted
		}
	}
	return next
}

// locate returns the current wave: the first of the plan that has not passed. So a wave that is put into the plan before the current one
// has its turn, and the current one continues after it.
func (s *stepper) locate() int {
	if s.channel.Phase == v1beta2.RolloutCompleted || setBack(&s.channel) {
		return len(s.waves)
	}
	reached := findWave(&s.channel, s.channel.Wave)
	for at := range s.waves {
		if known := findWave(&s.channel, s.waves[at].Name); known < 0 || known >= reached {
			return at
		}
	}
	return len(s.waves) - 1
}

// decide applies a person's decision to abort or to resume; approvals are looked at where a wave waits for one.
func (s *stepper) decide() {
	decision := s.plan.decision
	if !isAbout(decision, &s.channel) || isFinal(s.channel.Phase) {
		return
	}
	if !counts(decision, &s.channel) {
		s.notef("the decision %s does not count: it is older than this target; decide again", decision.Action)
		return
	}
	switch decision.Action {
	case v1beta2.RolloutAbort:
		s.channel.Phase, s.channel.Cause = v1beta2.RolloutAborted, "aborted"
		if decision.By != "" {
			s.channel.Cause += " by " + shorten(decision.By, nameLimit)
		}
		s.channel.Back = nil
		if Same(s.channel.From, s.channel.To) {
			s.channel.From = v1beta2.RolloutVersion{} // It was made paused: no version is known to be good.
		}
	case v1beta2.RolloutResume:
		s.resume(decision)
	case v1beta2.RolloutApprove:
		if decision.Wave == "" {
			s.notef("the decision approve names no wave, and so counts for none")
		}
	}
}

// resume forgives what has failed until the decision. A rollout that halted goes on, and its current wave soaks anew.
func (s *stepper) resume(decision *v1beta2.RolloutDecision) {
	at := decision.At.Time
	s.wakeAt(at)
	if s.whyNotResumed(decision) != "" || !at.After(s.channel.ForgivenUntil.Time) {
		return
	}
	s.channel.ForgivenUntil = floor(at)
	if !isStopped(s.channel.Phase) {
		return
	}
	s.channel.Phase, s.channel.Cause, s.channel.Back = v1beta2.RolloutProgressing, "", nil
	if s.current < len(s.waves) && s.waves[s.current].Soaking {
		s.waves[s.current].Soaking, s.waves[s.current].Since = false, floor(s.now)
	}
}

// whyNotResumed says why a decision to resume does not count now; empty when it does.
func (s *stepper) whyNotResumed(decision *v1beta2.RolloutDecision) string {
	switch at := decision.At.Time; {
	case at.IsZero():
		return "the decision resume does not count without the time in decision.at: failures until then are forgiven"
	case at.After(s.now):
		return "the decision resume counts from " + formatTime(at)
	case isStopped(s.channel.Phase) && decision.Wave != "" && decision.Wave != s.channel.Wave && at.After(s.channel.ForgivenUntil.Time):
		return fmt.Sprintf("the decision resume is about wave %s and does not count in wave %s", shorten(decision.Wave, nameLimit),
			s.channel.Wave)
	}
	return ""
}

// end returns when a span that began at a time is over.
func (s *stepper) end(began time.Time, span time.Duration) time.Time {
	return shift(s.facts.Jumps, began).Add(span)
}

// wakeAt asks for another look at a time, if that is to come.
func (s *stepper) wakeAt(at time.Time) {
	if at.After(s.now) && (s.step.Wake.IsZero() || at.Before(s.step.Wake)) {
		s.step.Wake = at
	}
}

func (s *stepper) notef(format string, values ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, values...))
}

// isFinal reports whether nothing changes a phase but another target.
func isFinal(phase v1beta2.RolloutPhase) bool {
	return phase == v1beta2.RolloutCompleted || phase == v1beta2.RolloutAborted
}

// isStopped reports whether too many have failed.
func isStopped(phase v1beta2.RolloutPhase) bool {
	return phase == v1beta2.RolloutHalted || phase == v1beta2.RolloutRollingBack || phase == v1beta2.RolloutRolledBack
}
