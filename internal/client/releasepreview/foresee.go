package releasepreview

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// maxPairs is how many distinct steps are listed.
const maxPairs = 20

// Foresee returns what becomes of all members. The spec of their Kymas is the effective one: hub's and runtime's, merged.
func (f *Forecast) Foresee(members []Member) Result {
	made := Result{Module: f.ask.Module, Channel: f.ask.Channel, Version: f.ask.Version, Offered: f.before}
	foreseen := make([]prospect, 0, len(members))
	for i := range members {
		follows, otherwise := f.Follows(members[i].Kyma)
		switch {
		case follows:
			one := prospect{member: &members[i], step: f.stepOf(&members[i])}
			one.fate = f.judge(one.member, &one.step)
			foreseen = append(foreseen, one)
		case otherwise:
			made.Others++
		}
	}
	made.Kymas = len(foreseen)
	made.Pairs = pairsOf(foreseen, f.ask.Version)
	f.group(&made, foreseen)
	made.Unknown = f.unknown(foreseen)
	return made
}

// prospect is a member and what becomes of it.
type prospect struct {
	member *Member
	step   step
	fate   fate
}

// group counts the members by what becomes of them.
func (f *Forecast) group(made *Result, all []prospect) {
	now := &groups{limit: f.hub.Names, known: map[groupKey]*Group{}, count: map[Outcome]int{}}
	then := &groups{limit: f.hub.Names, known: map[groupKey]*Group{}, count: map[Outcome]int{}}
	waves := f.waves(all)
	for i := range all {
		one := &all[i]
		name := one.member.Kyma.Name
		wait, waits := waves.waits(one)
		if !waits {
			now.add(one.fate.outcome, one.fate.reason, one.fate.detail, name)
			continue
		}
		now.add(wait.outcome, wait.reason, wait.detail, name)
		if one.fate.outcome != Upgrades && one.fate.outcome != Installs {
			then.add(one.fate.outcome, one.fate.reason, one.fate.detail, name)
		}
	}
	made.Groups, made.Then = now.sorted(), then.sorted()
}

// pairsOf counts the distinct steps of those that would get the version sooner or later.
func pairsOf(all []prospect, version string) []Pair {
	counted := map[[3]string]*Pair{}
	for i := range all {
		s := &all[i].step
		if !comes(all[i].fate.outcome) || s.samecon {
			continue
		}
		key := [3]string{s.version, s.from, s.to}
		if counted[key] == nil {
			counted[key] = &Pair{To: Ref{version, s.to}}
			if s.version != "" {
				counted[key].From = &Ref{s.version, s.from}
			}
		}
		counted[key].Kymas++
	}
	pairs := make([]Pair, 0, len(counted))
	for _, pair := range counted {
		pairs = append(pairs, *pair)
	}
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Kymas, a.Kymas), cmp.Compare(a.fromKey(), b.fromKey()), cmp.Compare(a.To.Digest, b.To.Digest))
	})
	return pairs[:min(len(pairs), maxPairs)]
}

func (p *Pair) fromKey() string {
	if p.From == nil {
		return ""
	}
	return p.From.Version + "@" + p.From.Digest
}

// comes reports whether a Kyma with an outcome gets the version at once or later.
func comes(outcome Outcome) bool {
	return !slices.Contains([]Outcome{Refused, Removed, Downgrade, Avoids, Leaving, Same}, outcome)
}

// unknown says what the decisions do not take into account.
func (f *Forecast) unknown(all []prospect) []string {
	var told []string
	template := f.shared.Templates[module.TemplateName(f.ask.Module, f.ask.Version)]
	if template != nil && template.Spec.RequiresDowntime && !f.hub.WindowsKnown {
		told = append(told, "the maintenance policy, so that it is not known when windows open")
	}
	if f.hub.Component == nil {
		told = append(told, "the version's content, which could not be read: it is taken for one that can be installed")
	}
	if len(f.unseen) > 0 {
		told = append(told, "whether clusters have what the version needs of them: "+describeAll(f.unseen))
	}
	if slices.ContainsFunc(all, func(one prospect) bool { return module.Synced(one.member.Kyma) }) {
		told = append(told, "what users of runtimes hold back by upgradeStrategy: only their clusters know it")
	}
	return told
}
