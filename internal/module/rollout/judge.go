package rollout

import (
	"cmp"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// kind is in which number of its wave a Kyma counts.
type kind uint8

const (
	waiting      kind = iota // can begin
	skipped                  // cannot begin
	updating                 // has begun, or is unready for a short time
	ready                    //
	failed                   // counts
	forgiven                 // failed before the last resume
	brokenBefore             // not ready, before and now
)

// judgement is what follows for a member.
type judgement struct {
	wave    int
	kind    kind
	ended   bool // its upgrade was seen to have begun and ended
	named   bool // in underway
	holds   bool // the wave does not soak without it
	delays  bool // the wave does not pass with it
	blocked bool // it has a place and cannot begin
	overdue bool // it has not begun in time
}

// judgeAll judges every member by the current wave.
func (s *stepper) judgeAll() {
	if s.judged == nil {
		s.judged = make([]judgement, len(s.facts.Members))
		for i := range s.facts.Members {
			s.judged[i].wave, _ = s.sorter.find(s.facts.Members[i].UID, s.facts.Members[i].Labels)
		}
	}
	s.held, s.worst = pending{}, nil
	for at := range s.waves {
		resetNumbers(&s.waves[at])
	}
	for i := range s.facts.Members {
		m := &s.facts.Members[i]
		v := judgement{wave: s.judged[i].wave}
		var known *place
		if len(s.underway) > 0 {
			known, v.named = s.underway[Prefix(m.UID)]
		}
		s.judge(m, &v)
		if known != nil {
			known.seen, known.ended = true, v.ended
		}
		s.judged[i] = v
		s.count(m, &v)
	}
}

// judge says what a member counts as, and what it keeps.
func (s *stepper) judge(m *Member, v *judgement) {
	switch {
	case m.Begun && isAside(m):
		v.kind, v.ended = skipped, true
		if m.Ready {
			v.kind = ready
		}
	case m.Begun && m.Ready:
		v.kind, v.ended = ready, true
		s.judgeReady(m, v)
	case m.Begun && !m.UnreadySince.IsZero():
		v.kind, v.ended = updating, true
		s.judgeUnready(m, v)
	case m.Begun:
		s.judgeUpdating(m, v)
	case m.RolledBack:
		v.ended = s.wentBack(m)
		s.addFailure(m, v, firstTime(m.BackSince, m.At), v1beta2.ReasonRolledBack)
	default:
		// One that went back and may begin again keeps its place: a cache cannot tell whether it has.
		v.ended = m.Back && m.Held != "" && s.wentBack(m)
		if m.Held != "" || !m.LostSince.IsZero() {
			v.kind = skipped
		}
		s.judgeAwaited(m, v)
		v.blocked = v.kind == skipped && v.named && !v.ended
		v.holds = v.kind == waiting && !s.isNewcomer(m, v)
	}
}

// isAside reports whether a Kyma is being deleted, or is suspended.
func isAside(m *Member) bool {
	return m.Held == HeldByDeletion || m.Held == HeldBySuspension
}

// judgeReady looks after a Kyma that is ready while its wave is observed.
func (s *stepper) judgeReady(m *Member, v *judgement) {
	if !s.isObserved(m, v) {
		return
	}
	if !m.LostSince.IsZero() {
		v.delays = true
		if limit := s.end(lostAt(m), s.plan.deadline); s.isPast(limit) {
			s.addFailure(m, v, limit, v1beta2.ReasonRuntimeLost)
		}
	} else if !m.ReadySince.IsZero() && s.waves[v.wave].Soaking {
		soak := s.plan.waves[v.wave].soak
		steady := s.end(m.ReadySince, min(UnreadyInSoak, soak))
		v.delays = steady.After(s.now)
		if steady.After(s.end(s.waves[v.wave].Since.Time, soak)) {
			s.wakeAt(steady)
		}
	}
	s.judgeDelay(m, v)
}

// judgeUnready looks after a Kyma that was ready with the target and is not any more.
func (s *stepper) judgeUnready(m *Member, v *judgement) {
	if m.BrokenBefore {
		v.kind = brokenBefore
		return
	}
	if !s.isObserved(m, v) {
		return
	}
	v.delays = true
	limit, reason := s.end(later(m.UnreadySince, m.FreeSince), UnreadyInSoak), v1beta2.ReasonUnreadyInSoak
	if !m.LostSince.IsZero() {
		// Nothing is known of a runtime that does not answer.
		limit, reason = s.end(lostAt(m), s.plan.deadline), v1beta2.ReasonRuntimeLost
	}
	if s.isPast(limit) {
		s.addFailure(m, v, limit, reason)
		return
	}
	s.judgeDelay(m, v)
	if v.kind == updating {
		s.addWorst(m, cmp.Or(m.Reason, "NotReady"), m.UnreadySince, true)
	}
}

// lostAt returns since when the loss of a runtime counts.
func lostAt(m *Member) time.Time {
	return later(m.LostSince, later(m.At, m.FreeSince))
}

// judgeDelay ends the patience with a Kyma that keeps its wave after the soak. One that came during the soak does not keep it.
func (s *stepper) judgeDelay(m *Member, v *judgement) {
	observed := &s.waves[v.wave]
	v.delays = v.delays && observed.Soaking && !m.At.After(observed.Since.Time)
	if !v.delays {
		return
	}
	limit := s.end(observed.Since.Time, s.plan.waves[v.wave].soak+s.plan.deadline+UnreadyInSoak)
	if !m.FreeSince.IsZero() {
		limit = later(limit, s.end(m.FreeSince, s.plan.deadline))
	}
	if s.isPast(limit) {
		s.addFailure(m, v, limit, v1beta2.ReasonUnreadyInSoak)
	}
}

// judgeUpdating looks at the deadline of a Kyma that was never ready with the target.
func (s *stepper) judgeUpdating(m *Member, v *judgement) {
	v.kind, v.holds = updating, !s.isNewcomer(m, v)
	if m.BrokenBefore {
		v.kind = brokenBefore
	}
	limit, reason := s.end(later(m.At, m.FreeSince), s.plan.deadline), v1beta2.ReasonProgressDeadlineExceeded
	if !m.LostSince.IsZero() {
		limit, reason = s.end(lostAt(m), s.plan.deadline), v1beta2.ReasonRuntimeLost
	}
	if !m.SeenSince.IsZero() {
		limit = later(limit, s.end(m.SeenSince, min(UnreadyInSoak, s.plan.deadline)))
	}
	if s.isPast(limit) {
		v.ended, v.holds = true, false
		s.addFailure(m, v, limit, reason)
	}
}

// addFailure makes a member a failure, unless it was broken before or is forgiven.
func (s *stepper) addFailure(m *Member, v *judgement, since time.Time, reason string) {
	v.delays = false
	switch {
	case m.BrokenBefore:
		v.kind = brokenBefore
	case !floor(since).After(s.channel.ForgivenUntil.Time) && !s.channel.ForgivenUntil.IsZero():
		v.kind = forgiven
	default:
		v.kind = failed
		s.addWorst(m, reason, since, false)
	}
}

// isPast reports whether a time has come, and asks for another look at it when it has not.
func (s *stepper) isPast(at time.Time) bool {
	s.wakeAt(at)
	return !at.After(s.now)
}

// isObserved reports whether a Kyma that was ready with the target still counts when it becomes unready: only in the current wave.
func (s *stepper) isObserved(m *Member, v *judgement) bool {
	return v.wave == s.current && !s.waves[v.wave].Since.IsZero() && !m.BrokenBefore
}

// isNewcomer reports whether a Kyma came after its wave began, so that a stream of new ones does not keep a wave for ever.
func (s *stepper) isNewcomer(m *Member, v *judgement) bool {
	began := s.waves[v.wave].Since
	return s.waves[v.wave].Soaking || !m.Created.IsZero() && !began.IsZero() && m.Created.After(began.Time)
}

// wentBack reports whether a Kyma without the target has had it since the rollout could give it, so that its upgrade has ended. A cache
// may still show how it went back from an earlier attempt.
func (s *stepper) wentBack(m *Member) bool {
	if m.BackSince.IsZero() {
		return s.channel.ForgivenUntil.IsZero()
	}
	return m.BackSince.After(s.channel.Since.Time) && m.BackSince.After(s.channel.ForgivenUntil.Time)
}

// count adds a member to the numbers of its wave, and to what keeps the current one.
func (s *stepper) count(m *Member, v *judgement) {
	addNumber(&s.waves[v.wave], v.kind)
	if m.Begun && !v.ended && !v.named {
		s.held.running++
	}
	if v.blocked {
		s.held.blocking = append(s.held.blocking, m.Name+" ("+heldBy(m)+")")
	}
	if v.wave != s.current {
		return
	}
	if v.holds {
		s.held.holding++
	}
	if v.delays {
		s.held.delaying++
	}
}

func heldBy(m *Member) string {
	if m.Held == "" {
		return "runtime does not answer"
	}
	return m.Held
}

func resetNumbers(wave *v1beta2.RolloutWaveStatus) {
	*wave = v1beta2.RolloutWaveStatus{Name: wave.Name, Since: wave.Since, Soaking: wave.Soaking, Cut: wave.Cut}
}

func addNumber(wave *v1beta2.RolloutWaveStatus, as kind) {
	wave.Total++
	switch as {
	case waiting:
		wave.Waiting++
	case skipped:
		wave.Skipped++
	case updating:
		wave.Updating++
	case ready:
		wave.Ready++
	case failed:
		wave.Failed++
	case forgiven:
		wave.Forgiven++
	case brokenBefore:
		wave.BrokenBefore++
	}
}

func firstTime(times ...time.Time) time.Time {
	for _, each := range times {
		if !each.IsZero() {
			return each
		}
	}
	return time.Time{}
}
