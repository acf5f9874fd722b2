package rollout

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// takeBack takes the target back from those that have it, when the plan says so: from those that failed at once, and from the others as
// many at a time as the current wave upgrades. Those that return when all others have gone back are no exception: none goes back without
// being named.
func (s *stepper) takeBack() {
	s.channel.Open = false
	if !s.plan.rollback {
		s.stay()
		return
	}
	if why := s.cannotGoBack(); why != "" {
		s.channel.Phase, s.channel.Back, s.message = v1beta2.RolloutHalted, nil, s.channel.Cause+"; "+why
		return
	}
	busy, stuck, left := s.pruneBack()
	switch {
	case left == 0 && len(s.channel.Back) == stuck || stuck >= MaxUnderway:
		s.channel.Phase, s.message = v1beta2.RolloutRolledBack, s.channel.Cause+"; those that had it have gone back"
		s.noteRest(stuck, left)
		return
	case s.plan.paused:
		s.channel.Phase, s.message = v1beta2.RolloutRollingBack, s.channel.Cause+"; going back to "+s.channel.From.Version+" is paused"
		return
	}
	s.channel.Phase, s.message = v1beta2.RolloutRollingBack, s.channel.Cause+"; those that have it go back to "+s.channel.From.Version
	s.noteRest(stuck, 0)
	s.addBack(MaxUnderway-len(s.channel.Back), func(i int) bool { return s.judged[i].kind == failed })
	free := MaxUnderway - len(s.channel.Back)
	if limit := s.limitBack(); limit > 0 {
		free = min(free, limit-busy)
	}
	s.addBack(free, func(i int) bool { return s.facts.Members[i].Held == "" })
}

// cannotGoBack says why no Kyma is taken back; empty when they are.
func (s *stepper) cannotGoBack() string {
	completed := LastCompleted(&s.channel)
	switch {
	case completed.Version == "" || Same(completed, s.channel.To):
		return "no version of the channel has completed that Kymas could go back to"
	case s.facts.NoWayBack != "":
		return "Kymas cannot go back to " + completed.Version + " by themselves: " + s.facts.NoWayBack
	case s.facts.FromMissing != "":
		return "Kymas cannot go back to " + completed.Version + ": " + s.facts.FromMissing
	}
	return ""
}

// stay leaves everything as it is until a person decides.
func (s *stepper) stay() {
	s.channel.Back, s.message = nil, s.channel.Cause
	if s.channel.Phase != v1beta2.RolloutRolledBack {
		s.channel.Phase = v1beta2.RolloutHalted
	}
}

// limitBack is how many go back at a time; 0 for all.
func (s *stepper) limitBack() int {
	if s.current < len(s.waves) {
		return s.plan.waves[s.current].limit
	}
	return 0
}

// pruneBack removes those that were seen to have gone back, and counts those that take a place, those that have no way back, and the others
// that still have the target. One that cannot go back now takes no place and delays no other: it does when it can, also after the end. One
// without a way back stays named: its Kyma would not say so any more otherwise, and it would be asked again. One that is missing among the
// members keeps its place until the API server was asked for it.
func (s *stepper) pruneBack() (busy, stuck, left int) {
	named := make(map[string]int, len(s.channel.Back)) // 1: seen, 2: has gone back
	for _, prefix := range s.channel.Back {
		named[prefix] = 0
	}
	for i := range s.facts.Members {
		m := &s.facts.Members[i]
		prefix := Prefix(m.UID)
		_, known := named[prefix]
		if known {
			named[prefix] = 1
		}
		switch {
		case isOut(m) || known && !m.Begun && s.isSettled(m):
			named[prefix] = 2
			continue
		case isStuck(m) && (known || len(s.channel.Back) < MaxUnderway):
			if !known {
				named[prefix] = 1
				s.channel.Back = append(s.channel.Back, prefix)
			}
			stuck++
			continue
		case known && s.judged[i].kind != failed && m.Held != HeldByWindow:
			busy++
		}
		if m.Begun {
			left++
		}
	}
	s.channel.Back = slices.DeleteFunc(s.channel.Back, func(prefix string) bool {
		gone := named[prefix] == 0 && slices.Contains(s.facts.Gone, prefix)
		if named[prefix] == 0 && !gone {
			busy++
			s.step.Missing = append(s.step.Missing, prefix)
		}
		return named[prefix] == 2 || gone
	})
	return busy, stuck, left
}

// isSettled reports whether a Kyma that went back needs no place any more: the version before is ready, or had its time.
func (s *stepper) isSettled(m *Member) bool {
	return m.State == v1beta2.StateReady || m.BackSince.IsZero() || s.isPast(s.end(m.BackSince, s.plan.deadline))
}

// isStuck reports whether a Kyma that was asked to go back has the target and says that there is no way back.
func isStuck(m *Member) bool {
	return m.Begun && (m.Reason == v1beta2.ReasonRollbackUnsafe || m.Reason == v1beta2.ReasonRollbackUnavailable)
}

// isOut reports whether a Kyma cannot go back before its runtime answers or it is not held any more.
func isOut(m *Member) bool {
	return !m.LostSince.IsZero() || isAside(m)
}

// noteRest tells how many have the target and cannot go back, or not now, or were not asked since too many cannot.
func (s *stepper) noteRest(stuck, unasked int) {
	out := []string(nil)
	for i := range s.facts.Members {
		if m := &s.facts.Members[i]; m.Begun && isOut(m) {
			out = append(out, m.Name+" ("+heldBy(m)+")")
		}
	}
	if stuck > 0 {
		s.notef("%d cannot go back and keep it", stuck)
	}
	if unasked > 0 {
		s.notef("no more are asked: %d others keep it, too", unasked)
	}
	if len(out) > 0 {
		s.notef("%d cannot be reached or are held, and go back when that ends: %s", len(out), firstNames(out))
	}
}

// addBack names members that have the target, at most count of those that fit.
func (s *stepper) addBack(count int, fits func(member int) bool) {
	if count <= 0 {
		return
	}
	named := make(map[string]struct{}, len(s.channel.Back))
	for _, prefix := range s.channel.Back {
		named[prefix] = struct{}{}
	}
	chosen := s.first(count, func(i int) bool {
		m := &s.facts.Members[i]
		if !m.Begun || isOut(m) || !fits(i) {
			return false
		}
		_, known := named[Prefix(m.UID)]
		return !known
	})
	for _, i := range chosen {
		s.channel.Back = append(s.channel.Back, Prefix(s.facts.Members[i].UID))
		s.step.TakenBack = append(s.step.TakenBack, s.facts.Members[i].Name)
	}
}
