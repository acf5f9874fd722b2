package rollout

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// pruneUnderway removes Kymas whose upgrade was seen to have ended, and those that are known to be gone.
func (s *stepper) pruneUnderway() {
	s.channel.Underway = slices.DeleteFunc(s.channel.Underway, func(prefix string) bool {
		at := s.underway[prefix]
		ends := at.seen && at.ended || !at.seen && slices.Contains(s.facts.Gone, prefix)
		if ends {
			delete(s.underway, prefix)
		} else if !at.seen {
			s.step.Missing = append(s.step.Missing, prefix)
		}
		return ends
	})
	for i := range s.judged {
		s.judged[i].named = s.judged[i].named && !s.judged[i].ended
	}
}

// admit gives the free places of the current wave to Kymas that can begin: of earlier waves first, and then by rank.
func (s *stepper) admit() {
	if !s.facts.Armed || s.waves[s.current].Since.IsZero() {
		return
	}
	limit := s.plan.waves[s.current].limit
	s.channel.Open = limit == 0
	if s.channel.Open && (!s.before.Open || s.before.Wave != s.channel.Wave) || s.before.Phase != v1beta2.RolloutProgressing {
		s.channel.LastAdmission = floor(s.now)
	}
	free := MaxUnderway - len(s.channel.Underway)
	if !s.channel.Open {
		free = min(free, limit-len(s.channel.Underway)-s.held.running)
	}
	s.wakeAdmitted()
	for _, i := range s.first(free, s.canBegin) {
		m := &s.facts.Members[i]
		s.channel.Underway = append(s.channel.Underway, Prefix(m.UID))
		s.step.Admitted = append(s.step.Admitted, m.Name)
		s.channel.LastAdmission, s.judged[i].named = floor(s.now), true
	}
}

// canBegin reports whether a member needs a place and may get one.
func (s *stepper) canBegin(i int) bool {
	v := &s.judged[i]
	if v.kind != waiting || v.named {
		return false
	}
	return v.wave < s.current || v.wave == s.current && !s.channel.Open
}

// wakeAdmitted wakes those that have a place and could not use it before.
func (s *stepper) wakeAdmitted() {
	if s.before.Phase == v1beta2.RolloutProgressing {
		return
	}
	for i := range s.judged {
		if s.judged[i].named && s.judged[i].kind == waiting {
			s.step.Admitted = append(s.step.Admitted, s.facts.Members[i].Name)
		}
	}
}

// ranked is a member with its place in the order of admission.
type ranked struct {
	key    uint64
	member int
}

// first returns the first members that fit, at most count, in their order: that of their waves, and within one that of their ranks. Few
// places for many members is what happens most, so that only as many are kept in order as there are places.
func (s *stepper) first(count int, fits func(member int) bool) []int {
	if count <= 0 {
		return nil
	}
	best := make([]ranked, 0, min(count, len(s.judged))+1)
	for i := range s.judged {
		if !fits(i) {
			continue
		}
		next := ranked{uint64(s.judged[i].wave)<<56 | rank(s.sorter.seed, s.facts.Members[i].UID)>>8, i}
		if len(best) == count && best[count-1].key <= next.key {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, next, func(a, b ranked) int { return cmp.Compare(a.key, b.key) })
		best = slices.Insert(best, at, next)
		best = best[:min(len(best), count)]
	}
	members := make([]int, len(best))
	for i := range best {
		members[i] = best[i].member
	}
	return members
}
