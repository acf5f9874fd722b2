package module

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// moves decides which modules get the version that they are about to get in this pass, and which have to wait for what, or are refused.
//
// Three things hold a module back: what its next version requires is not there; the next versions of some modules require each other in a
// circle; or another module that is installed does not work with the next version. The last one may have a next version, too, that does.
// Then the two belong together:
//
//   - where the other one's next version works with what this one has, the other one goes first, and this one waits for it;
//   - where it needs this one's next version, this one goes first, and the other one follows once it is ready;
//   - where the other one cannot go now, for whatever reason, this one is refused.
type moves struct {
	*resolver
	members  []*member // those first that others require
	byModule map[string]*member
}

func (r *resolver) newMoves(verdicts []Verdict) *moves {
	p := &moves{resolver: r, byModule: make(map[string]*member, len(verdicts))}
	for i := range verdicts {
		m := r.newMember(&verdicts[i])
		p.members = append(p.members, m)
		// A module may have two verdicts, as mandatory and of the spec: the one that has something installed counts.
		if other := p.byModule[m.v.Module]; other == nil || other.leaves || other.has == "" && !m.leaves {
			p.byModule[m.v.Module] = m
		}
	}
	return p
}

// sort orders the members, and finds those that are in a circle.
func (p *moves) sort() {
	lists := make(map[string][]requirements.Requirement, len(p.members))
	for _, m := range p.members {
		if m.stays() {
			lists[m.v.Module] = append(lists[m.v.Module], m.target()...)
		}
	}
	graph := requirements.NewGraph(lists)
	order, circles := requirements.Order(graph)
	at := make(map[string]int, len(order))
	for i, module := range order {
		at[module] = i
	}
	slices.SortStableFunc(p.members, func(a, b *member) int { return at[a.v.Module] - at[b.v.Module] })
	if len(circles) == 0 {
		return
	}
	for _, m := range p.members {
		if m.gate != nil {
			m.circle = graph.Cycle(m.v.Module)
		}
	}
}

// facts returns what is known of what a list requires.
func (p *moves) facts(list []requirements.Requirement) requirements.Facts {
	facts := requirements.Facts{
		ModulesKnown: true, Modules: map[string]requirements.Module{},
		Definitions: p.Cluster.Definitions, Kubernetes: p.Cluster.Kubernetes, Problem: p.Cluster.Problem,
	}
	for _, module := range requirements.Modules(list) {
		if m := p.byModule[module]; m != nil && (!m.leaves || m.has != "") {
			facts.Modules[module] = m.provides()
		}
	}
	return facts
}

// unmetNow returns what of a list is not met now.
func (p *moves) unmetNow(list []requirements.Requirement) []requirements.Missing {
	return requirements.Check(list, p.facts(list))
}

// set is a set of members.
type set map[*member]bool

// together returns the members that can go to their next versions when all of them do, but for those that are held. Everything else that
// they require is there now. ever counts those, too, that a later rule holds back now. wide also lets one count that works only with what
// another one has now: nothing outside of that set can go as long as those do not that are held.
func (p *moves) together(held set, ever, wide bool) set {
	going := set{}
	for _, m := range p.members {
		if m.gate != nil && (m.moves || ever) && m.circle == nil && !held[m] && p.metWith(m, going, wide) {
			going[m] = true
		}
	}
	return going
}

// metWith reports whether a member's next version has what it requires once others have gone.
func (p *moves) metWith(m *member, going set, wide bool) bool {
	for _, one := range m.gate.requires {
		alone := []requirements.Requirement{one}
		if other := p.byModule[one.Module]; one.Module != "" && going[other] {
			if requirements.Accepts(alone, one.Module, other.next()) {
				continue
			}
			if !wide {
				return false
			}
		}
		if len(p.unmetNow(alone)) > 0 {
			return false
		}
	}
	return true
}

// broken returns the members that must not go, since another module would break that cannot go with them, and those that can. The members
// are held first that nothing can help; each of the others is held alone, since that may let the other module go that it would break.
func (p *moves) broken(ever bool) (held, going set) {
	held = set{}
	for {
		going = p.together(held, ever, false)
		wide := p.together(held, ever, true)
		var hopeless, others []*member
		for _, m := range p.members {
			switch {
			case !going[m]:
			case p.wouldBreak(m, wide):
				hopeless = append(hopeless, m)
			case p.wouldBreak(m, going):
				others = append(others, m)
			}
		}
		if len(hopeless) == 0 {
			hopeless = others[:min(1, len(others))]
		}
		if len(hopeless) == 0 {
			return held, going
		}
		for _, m := range hopeless {
			held[m] = true
		}
	}
}

// wouldBreak reports whether an upgrade breaks a module that is not going.
func (p *moves) wouldBreak(x *member, going set) bool {
	return x.has != "" && slices.ContainsFunc(p.members, func(d *member) bool {
		return d != x && d.stays() && !going[d] && len(breaks(d.runs, x)) > 0
	})
}

// precedence returns, for each member that is going, those that must go before it so that they do not break. Where that would make modules
// wait for each other, the order by what they require takes precedence, and one of them is down for a while.
func (p *moves) precedence(going set) map[*member][]*member {
	before := map[*member][]*member{}
	for m := range going {
		for _, one := range m.gate.requires {
			other := p.byModule[one.Module]
			if one.Module != "" && going[other] && len(p.unmetNow([]requirements.Requirement{one})) > 0 {
				before[m] = append(before[m], other)
			}
		}
	}
	first := map[*member][]*member{}
	for _, x := range p.members {
		for _, d := range p.members {
			if !going[x] || x.has == "" || d == x || !going[d] || len(breaks(d.runs, x)) == 0 ||
				!requirements.Accepts(d.gate.requires, x.v.Module, x.has) || leads(before, d, x) {
				continue
			}
			before[x] = append(before[x], d)
			first[x] = append(first[x], d)
		}
	}
	return first
}

// leads reports whether a member must wait for another one, however indirectly.
func leads(before map[*member][]*member, m, other *member) bool {
	seen := set{}
	for next := []*member{m}; len(next) > 0; next = next[1:] {
		if next[0] == other {
			return true
		}
		if !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, before[next[0]]...)
		}
	}
	return false
}
