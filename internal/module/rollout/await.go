package rollout

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// BlockedPlace is how long a Kyma keeps its place that is known to be unable to begin: it lacks a requirement, say, and a thousand others
// could use the place. When it can begin, it gets another one.
const BlockedPlace = time.Minute

// judgeAwaited looks at the deadline of a Kyma that was admitted and has not begun. The component may be broken, or the registry; or its
// runtime refuses all of the Kyma. It fails, for the wave must not wait for ever and not pass unnoticed; where what keeps it is known, it
// is only skipped. Either way it gives its place back.
func (s *stepper) judgeAwaited(m *Member, v *judgement) {
	wait, known := s.facts.Awaited[m.UID]
	if !known || wait.Blocked != (v.kind == skipped) {
		return
	}
	// What a person resumes is tried once more.
	since := later(wait.Since, s.channel.ForgivenUntil.Time)
	limit := s.end(since, s.patience(wait))
	switch {
	case s.isPast(limit):
		v.overdue, v.ended = true, true
		if !wait.Blocked {
			s.addFailure(m, v, limit, v1beta2.ReasonNotBegun)
		}
	case !wait.Blocked && s.isPast(s.end(since, UnreadyInSoak)):
		s.addWorst(m, v1beta2.ReasonNotBegun, since, true)
	}
}

// await notes since when Kymas that are admitted could begin, for the next step.
func (s *stepper) await() {
	s.step.Awaited = map[string]Wait{}
	for i := range s.judged {
		m, v := &s.facts.Members[i], &s.judged[i]
		next := Wait{Since: s.now, Blocked: v.kind == skipped}
		wait, known := s.facts.Awaited[m.UID]
		switch {
		case v.overdue:
			next = wait
		case m.Begun || !s.isAdmitted(v):
			continue
		case known && wait.Blocked == next.Blocked:
			next = wait
		case s.facts.Awaited == nil && s.wasAdmitted(m, v):
			next.Since = s.guessAdmission()
		}
		s.step.Awaited[m.UID] = next
		if !v.overdue {
			s.wakeAt(s.end(next.Since, s.patience(next)))
		}
		if !next.Blocked {
			s.wakeAt(s.end(next.Since, UnreadyInSoak))
		}
	}
}

// patience returns how long a Kyma that does not begin keeps its place.
func (s *stepper) patience(wait Wait) time.Duration {
	if wait.Blocked {
		return min(BlockedPlace, s.plan.deadline)
	}
	return s.plan.deadline
}

// isAdmitted reports whether a Kyma may begin by the status that is being made, unless something else keeps it.
func (s *stepper) isAdmitted(v *judgement) bool {
	if s.channel.Phase != v1beta2.RolloutProgressing || v.kind != waiting && v.kind != skipped {
		return false
	}
	return v.named || v.kind == waiting && s.channel.Open && v.wave == s.current
}

// wasAdmitted reports whether a Kyma might have begun before this step.
func (s *stepper) wasAdmitted(m *Member, v *judgement) bool {
	if s.before.Phase != v1beta2.RolloutProgressing {
		return false
	}
	return s.underway[Prefix(m.UID)] != nil || s.before.Open && s.before.Wave == s.waves[v.wave].Name
}

// guessAdmission returns since when a Kyma has its place that an owner before admitted: at the latest since the last admission. It may have
// been held until a moment ago, so that it has some time left in any case.
func (s *stepper) guessAdmission() time.Time {
	last := s.before.LastAdmission.Time
	if last.IsZero() {
		return s.now
	}
	return later(last, s.now.Add(min(UnreadyInSoak, s.plan.deadline)-s.plan.deadline))
}
