package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// require decides about the versions that reached rule 14a, by the verdicts of all modules so far: it replaces the verdicts of those that
// are held back. It also keeps installed modules that others need, and tells what an installed module misses.
func (r *resolver) require(verdicts []Verdict) {
	if r.Snapshot.Kyma.DeletionTimestamp != nil || !requiresAnything(r.Snapshot) {
		return
	}
	p := r.newMoves(verdicts)
	p.keepRequired()
	p.sort()
	p.decide()
	for _, m := range p.members {
		key := targetKey{m.v.Module, m.v.Mandatory}
		switch _, held := r.needs.holds[key]; {
		case !held:
		case m.v.Mandatory:
			*m.v = r.mandatory(m.v.Module)
		default:
			before := *m.v
			*m.v = r.module(m.v.Module)
			// Rule 14b comes after this one, and was asked before: people agree while the requirement is missing.
			m.v.Consent, m.v.Pending, m.v.ForceAt = before.Consent, before.Pending, before.ForceAt
		}
	}
	p.holdLeaving()
	p.noteUnmet()
}

// holdLeaving leaves what is being deleted as it is where the version that it would still be upgraded to requires what is not there.
func (p *moves) holdLeaving() {
	for _, m := range p.members {
		upgraded := m.v.Template != nil && terminating(m.v.Manifest) && m.v.Manifest.Spec.Version != m.v.Version
		if upgraded && len(p.unmetNow(m.v.Requires)) > 0 {
			p.standBack(m.v)
		}
	}
}

// decide holds back what must not be installed now.
func (p *moves) decide() {
	held, going := p.broken(false)
	heldEver, goingEver := held, going
	if slices.ContainsFunc(p.members, func(m *member) bool { return m.gate != nil && !m.moves }) {
		heldEver, goingEver = p.broken(true)
	}
	first := p.precedence(going)
	for _, m := range p.members { // what others require is decided before them
		if m.gate == nil || m.circle != nil {
			continue
		}
		m.missing = p.unmetNow(m.gate.requires)
		m.moved = m.moves && len(m.missing) == 0 && !held[m] && len(first[m]) == 0 && len(p.endings(m)) == 0
	}
	for _, m := range p.members {
		switch {
		case m.gate == nil || m.moved:
		case !m.moves && goingEver[m]: // a later rule decides; nothing that it waits for by that rule may depend on this one
		default:
			p.hold(m, held[m] || heldEver[m], goingEver[m], first[m])
		}
	}
}

// hold records why a member is held back; nothing when rule 14a does not hold it. breaks reports that it would break another module now,
// and ever that this one will have a version that works with it, once it may.
func (p *moves) hold(m *member, breaks, ever bool, first []*member) {
	version, because := m.next(), obstacle{}
	switch endings := p.endings(m); {
	case m.circle != nil:
		because.set(ruleRequirementCycle, "version", version, "detail", strings.Join(m.circle, " -> "))
	case len(m.missing) > 0:
		because.set(ruleRequirementMissing, "version", version, "detail", missingDetail(m.missing))
		because.nothing = p.whenMissing(m)
		because.silent = p.isBeingLookedFor(m.missing)
	case breaks && ever:
		because.set(ruleBreaksNoMore, "version", version, "detail", "other modules may be upgraded with it: "+p.brokenDetail(m))
	case breaks:
		because.set(ruleWouldBreak, "version", version, "detail", p.brokenDetail(m))
	case len(first)+len(endings) > 0:
		for _, d := range first {
			endings = append(endings, fmt.Sprintf("module %s has version %s, which works with it", d.v.Module, d.next()))
		}
		because.set(ruleBreaksNoMore, "version", version, "detail", strings.Join(endings, ", and "))
	default:
		return
	}
	p.needs.holds[targetKey{m.v.Module, m.v.Mandatory}] = because
}

func (h *obstacle) set(r rule, pairs ...string) {
	h.rule, h.nothing, h.message = r, r, r.message(pairs...)
}

// endings names what must end before an upgrade, since it would break a module that is about to be gone, or replaced: that module is being
// removed, or its next version, which works with this one as it is now, is not up yet.
func (p *moves) endings(x *member) []string {
	var until []string
	if x.has == "" {
		return nil
	}
	for _, d := range p.members {
		switch {
		case d == x:
		case d.leaves && len(breaks(d.runs, x)) > 0:
			until = append(until, "module "+d.v.Module+" is removed")
		case d.stays() && len(breaks(d.arrives, x)) > 0 && len(p.unmetNow(d.runs)) == 0:
			until = append(until, "module "+d.v.Module+" is ready in version "+d.has)
		}
	}
	return until
}

// missingDetail names what is missing, the first few in full.
func missingDetail(missing []requirements.Missing) string {
	text := requirements.Sentences(missing[:min(len(missing), named)])
	if more := len(missing) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// brokenDetail names the modules that an upgrade would break, and what they require.
func (p *moves) brokenDetail(x *member) string {
	var broken []string
	for _, d := range p.members {
		if d == x || !d.stays() {
			continue
		}
		for _, one := range breaks(d.runs, x) {
			broken = append(broken, fmt.Sprintf("module %s needs %s", d.v.Module, one))
		}
	}
	text := strings.Join(broken[:min(len(broken), named)], "; ")
	if more := len(broken) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// isBeingLookedFor reports whether everything that is missing is about to be looked at.
func (p *moves) isBeingLookedFor(missing []requirements.Missing) bool {
	return p.Cluster.Problem == "" && !slices.ContainsFunc(missing, func(one requirements.Missing) bool {
		return !one.Unknown || one.Module != ""
	})
}

// whenMissing returns the rule for a module that is not installed: whether what it needs is on its way, or a user must act.
func (p *moves) whenMissing(m *member) rule {
	for _, one := range m.missing {
		other := p.byModule[one.Module]
		switch {
		case one.Unknown && one.Module == "":
		case one.Kubernetes != "",
			one.Definition != "" && !slices.ContainsFunc(p.members, func(o *member) bool { return o != m && o.isUnderWay() }),
			one.Module != "" && (other == nil || !other.mayCome(one.Requirement)):
			return ruleRequirementAbsent
		}
	}
	return ruleRequirementComing
}

// isUnderWay reports whether a module is being installed or upgraded: it may bring a definition.
func (m *member) isUnderWay() bool {
	switch {
	case m.moved || m.v.Reason == v1beta2.ReasonComponentPending:
		return true
	case m.v.Manifest == nil || !m.stays():
		return false
	}
	return !m.ready && (m.v.Manifest.Status.State == "" || m.v.Manifest.Status.State == v1beta2.StateProcessing || !observed(m.v.Manifest))
}

// mayCome reports whether a module may meet a requirement without anything that a user does for it: its version does, and it only has to
// get ready.
func (m *member) mayCome(one requirements.Requirement) bool {
	provided := m.provides()
	return m.remains() && (provided.Version == "" || requirements.Accepts([]requirements.Requirement{one}, m.v.Module, provided.Version))
}

// noteUnmet tells what modules miss that run and are to stay as they are. They are not taken down for it.
func (p *moves) noteUnmet() {
	for _, m := range p.members {
		if m.has == "" || m.gate != nil || !m.stays() {
			continue
		}
		runs := m.runs
		if m.v.Template != nil && m.v.Version == m.has {
			runs = m.v.Requires
		}
		for _, one := range requirements.Check(runs, p.standingFacts(runs)) {
			if one.Module != "" && !one.Unknown {
				m.v.note("it needs " + one.Sentence)
			}
		}
		if m.v.Back != "" {
			p.noteBack(m)
		}
	}
}

// standingFacts returns the modules that a list requires as if all of them were ready: what is not ready says so itself.
func (p *moves) standingFacts(list []requirements.Requirement) requirements.Facts {
	facts := p.facts(list)
	for name, module := range facts.Modules {
		module.Ready = module.Detail == ""
		facts.Modules[name] = module
	}
	return facts
}

// noteBack tells which modules do not work with the earlier version that a module goes back to: that is not prevented.
func (p *moves) noteBack(m *member) {
	var broken []string
	for _, d := range p.members {
		if d != m && d.stays() && !requirements.Accepts(d.runs, m.v.Module, m.v.Version) {
			broken = append(broken, d.v.Module)
		}
	}
	if len(broken) > 0 {
		m.v.note(fmt.Sprintf("%s %s %s not work with version %s", english.PluralWord(len(broken), "module", ""), first(broken),
			english.PluralWord(len(broken), "does", "do"), m.v.Version))
	}
}
