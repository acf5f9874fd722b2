package rollout

import (
	"fmt"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// watchFailures halts a rollout in which a wave has more failures than it allows. All waves count, since a Kyma that was admitted in one
// can be in another by now, by a label.
func (s *stepper) watchFailures() {
	if isFinal(s.channel.Phase) || isStopped(s.channel.Phase) {
		return
	}
	for at := range s.waves {
		each := &s.waves[at]
		if allowed := s.plan.waves[at].failures.of(int(each.Total)); int(each.Failed) > allowed {
			s.channel.Phase = v1beta2.RolloutHalted
			s.channel.Cause = fmt.Sprintf("halted in wave %s: %d of %d failed, %d allowed", each.Name, each.Failed, each.Total, allowed)
			return
		}
	}
}

// judgeAnew judges after the current wave began, soaks or passed: others are observed now, and may have failed.
func (s *stepper) judgeAnew() {
	s.judgeAll()
	s.watchFailures()
}

// advance lets waves begin and pass as far as the facts allow.
func (s *stepper) advance() {
	s.channel.Open = false
	for s.current < len(s.waves) {
		if !s.beginWave() || !s.passWave() {
			s.channel.Wave = s.waves[s.current].Name
			return
		}
		s.current++
		s.judgeAnew()
	}
	s.channel.Phase, s.channel.From, s.channel.Wave = v1beta2.RolloutCompleted, s.channel.To, ""
	s.channel.Underway, s.channel.Cause = nil, ""
}

// beginWave reports whether the current wave has begun.
func (s *stepper) beginWave() bool {
	at := &s.waves[s.current]
	if !at.Since.IsZero() {
		return true
	}
	if at.Name == Others && at.Total == 0 {
		return true // There is such a wave only when a Kyma is in it.
	}
	switch {
	case s.plan.waves[s.current].approval && !s.isApproved():
		s.waitf("wave %s waits for approval", at.Name)
	case s.plan.paused:
		s.waitf("paused before wave %s", at.Name)
	case !s.facts.Armed:
		s.proceedf("wave %s begins as soon as the release is marked", at.Name)
	default:
		at.Since = floor(s.now)
		s.judgeAnew()
		return !isStopped(s.channel.Phase)
	}
	return false
}

// passWave reports whether the current wave, which has begun, has passed.
func (s *stepper) passWave() bool {
	at, planned := &s.waves[s.current], &s.plan.waves[s.current]
	switch {
	case at.Name == Others && at.Total == 0:
	case s.held.holding > 0 || s.awaitsFirst(at):
		s.proceedf("wave %s upgrades", at.Name)
		return false
	case at.Ready == 0 && s.held.delaying == 0 && !s.isApprovedEmpty():
		s.waitf("no Kyma of wave %s is ready with %s or can become so (%s): approve the wave, or correct it", at.Name, s.channel.To.Version,
			describeNumbers(at))
		return false
	case at.Ready == 0 && s.held.delaying == 0:
	default:
		if !s.hasSoaked(at, planned) {
			return false
		}
	}
	if s.plan.paused {
		s.waitf("paused after wave %s", at.Name)
		return false
	}
	if !s.facts.Armed {
		s.proceedf("the release is not marked any more: nothing begins before it is")
		return false
	}
	return true
}

// awaitsFirst reports whether a wave without a ready Kyma may still have one. Those that came after it began do not hold it back otherwise.
func (s *stepper) awaitsFirst(at *v1beta2.RolloutWaveStatus) bool {
	return at.Ready == 0 && s.held.delaying == 0 && at.Updating+at.Waiting > 0 && !s.isApprovedEmpty()
}

// hasSoaked reports whether a wave, all of which that can be is or was ready, was so for long enough.
func (s *stepper) hasSoaked(at *v1beta2.RolloutWaveStatus, planned *wave) bool {
	if !at.Soaking {
		at.Soaking, at.Since = true, ceil(s.now)
		s.judgeAnew() // Who came before this is observed to the end of the soak.
	}
	if isStopped(s.channel.Phase) {
		return false
	}
	switch end := s.end(at.Since.Time, planned.soak); {
	case planned.soak > 0 && !s.isPast(end):
		s.proceedf("wave %s soaks until %s", at.Name, formatTime(end))
	case s.held.delaying > 0:
		s.proceedf("wave %s has soaked, and passes when all of it is ready and was so for a while: %d of %d are not", at.Name,
			s.held.delaying, at.Total)
	default:
		return true
	}
	return false
}

// isApproved reports whether a person lets the current wave begin.
func (s *stepper) isApproved() bool {
	decision := s.plan.decision
	return counts(decision, &s.channel) && decision.Action == v1beta2.RolloutApprove && decision.Wave == s.waves[s.current].Name
}

// isApprovedEmpty reports whether a person lets the current wave pass although no Kyma of it is ready. The approval to begin is no such.
func (s *stepper) isApprovedEmpty() bool {
	if !s.isApproved() {
		return false
	}
	at, began := s.plan.decision.At.Time, s.waves[s.current].Since.Time
	if s.plan.waves[s.current].approval {
		return at.After(began)
	}
	return at.IsZero() || !at.Before(began)
}

// proceedf sets what goes on without a person, and waitf what does not.
func (s *stepper) proceedf(format string, values ...any) {
	if s.plan.paused {
		s.waitf("paused; "+format, values...)
		return
	}
	s.channel.Phase, s.message = v1beta2.RolloutProgressing, fmt.Sprintf(format, values...)
}

func (s *stepper) waitf(format string, values ...any) {
	s.channel.Phase, s.message = v1beta2.RolloutWaiting, fmt.Sprintf(format, values...)
}

// describeNumbers says how many Kymas of a wave are in which state, without those in which none is.
func describeNumbers(at *v1beta2.RolloutWaveStatus) string {
	if at.Total == 0 {
		return "it has no Kyma"
	}
	parts := []string{fmt.Sprintf("%d in all", at.Total)}
	for _, each := range []struct {
		count int32
		name  string
	}{
		{at.Ready, "ready"}, {at.Updating, "upgrading"}, {at.Waiting, "waiting"}, {at.Failed, "failed"}, {at.Forgiven, "forgiven"},
		{at.BrokenBefore, "not ready before"}, {at.Skipped, "skipped"},
	} {
		if each.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", each.count, each.name))
		}
	}
	return strings.Join(parts, ", ")
}
