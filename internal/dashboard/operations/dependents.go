package operations

import (
	"context"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// departure is what leaves a Kyma with a deleted module.
type departure struct {
	// names are the modules, in the order of their removal: those that need the deleted one and were named, and that one last.
	names []string
	// dependents are all modules that need it.
	dependents []Dependent
	// refused is why it cannot be deleted like this; nil if it can.
	refused error
}

// departure decides which modules leave with the deleted one. It refuses:
//
//  1. a module that is to leave along, and does not need the deleted one any more
//  2. while a module needs the deleted one that only the user of the runtime requests
//  3. while one needs it that is not named
func (p *planner) departure(s *hubContext) departure {
	name := p.deed.Module
	needing := slices.DeleteFunc(s.Cascade(name), func(one string) bool { return one == name })
	made := departure{}
	var unnamed, theirs []string
	for _, one := range needing {
		made.dependents = append(made.dependents, s.dependent(one, append(slices.Clone(needing), name)))
		switch {
		case s.Theirs(one):
			theirs = append(theirs, one)
		case slices.Contains(p.deed.With, one):
			made.names = append(made.names, one)
		default:
			unnamed = append(unnamed, one)
		}
	}
	made.names = append(made.names, name)
	for _, one := range p.deed.With {
		switch {
		case slices.Contains(needing, one):
		case s.Has(one):
			made.refused = refuse(WhyBusy, "module %s does not need %s any more: look at it again", one, name)
		case s.StatusOf(one) != nil: // this request removed it before
			made.names = append([]string{one}, made.names...)
		}
	}
	switch {
	case made.refused != nil:
	case len(theirs) > 0:
		made.refused = refuse(WhyRefused, "module %s cannot be deleted: the user of the runtime asks for %s, which %s it", name,
			english.WordSeries(theirs, "and"), needs(theirs))
	case len(unnamed) > 0:
		made.refused = refuse(WhyBlocked, "module %s cannot be deleted: %s %s it; remove what needs it with it, or first", name,
			english.WordSeries(unnamed, "and"), needs(unnamed))
	}
	return made
}

func needs(names []string) string { return english.PluralWord(len(names), "needs", "need") }

// dependent describes a module by what it needs of some others.
func (s *hubContext) dependent(name string, of []string) Dependent {
	one := Dependent{Module: name}
	if status := s.StatusOf(name); status != nil {
		one.Version = status.Version
	}
	var needed []string
	for _, requirement := range requirements.Union(modulestatus.Requires(s.Installed(name)), s.Requires(name, s.Version(&s.Asked, name))) {
		if requirement.Module != "" && slices.Contains(of, requirement.Module) {
			needed = append(needed, strings.TrimSpace(requirement.Module+" "+requirement.Version))
		}
	}
	one.Needs = strings.Join(needed, ", ")
	return one
}

// madeWith returns the objects that users made with some modules, each once.
func (s *hubContext) madeWith(ctx context.Context, c *cluster, names []string) (found []Blocking, unread []modulestatus.Unread) {
	for _, name := range names {
		objects, missing := s.made(ctx, c, name)
		unread = append(unread, missing...)
		for i := range objects {
			if !slices.ContainsFunc(found, func(other Blocking) bool { return other.UID == objects[i].UID }) {
				found = append(found, objects[i])
			}
		}
	}
	return found, unread
}
