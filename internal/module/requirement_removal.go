package module

import (
	"slices"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// keepRequired keeps installed modules that the spec does not name any more while others that stay need them, in the version that is
// installed or in the one that they are about to get. It does not keep
//
//   - what this Kyma may not have any more (rules 9 and 11);
//   - what another module takes the place of, which owns the objects from then on;
//   - a mandatory module: its release decides for all Kymas.
func (p *moves) keepRequired() {
	for again := true; again; {
		again = false
		for _, m := range p.members {
			if dependents := p.dependentsOf(m); len(dependents) > 0 && p.isDropped(m.v) && p.mayStay(m.v) {
				p.keep(m, dependents)
				again = true
			}
		}
	}
}

// dependentsOf returns the modules that stay and need a module.
func (p *moves) dependentsOf(m *member) []string {
	var names []string
	for _, d := range p.members {
		if d != m && d.remains() && d.requires(m.v.Module) {
			names = append(names, d.v.Module)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isDropped reports whether a module is to be removed since the spec does not name it, and its removal has not begun.
func (p *moves) isDropped(v *Verdict) bool {
	return v.Kind == Removed && v.Reason == rules[ruleDisabled].Reason && !v.Mandatory && !p.Behind &&
		v.Manifest != nil && !terminating(v.Manifest) && !leaving(v.Manifest)
}

// mayStay reports whether a module that the spec does not name may be kept for others.
func (p *moves) mayStay(v *Verdict) bool {
	if _, refused := p.templateFor(v, v.Version); refused != nil && rules[refused.rule].Reason == v1beta2.ReasonNotAllowed {
		return false
	}
	if release := p.Releases[v.Module]; release != nil {
		if refused := restriction(p.Snapshot, release, v.Module); refused != nil && refused.rule == ruleNotSelected {
			return false
		}
	}
	return !slices.ContainsFunc(p.members, func(other *member) bool { return other.v != v && p.succeeds(other.v, v.Manifest) })
}

// keep keeps a module that is needed, at its version.
func (p *moves) keep(m *member, dependents []string) {
	v := m.v
	v.asBefore()
	p.enforce(v)
	v.is(Keep, ruleStillRequired, ruleStillRequired.message("detail", modulesThat(dependents, " ", "needs", "need")))
	m.leaves = false
}

// modulesThat names modules that need another one, the first few of them.
func modulesThat(names []string, between, singular, plural string) string {
	return english.PluralWord(len(names), "module", "") + " " + first(names) + between +
		english.PluralWord(len(names), singular, plural) + " it"
}

// dependencies orders removals: a module is removed after those that are removed, too, and need it, so that they can still clean up what
// they made with it. Modules that need each other are removed together.
func (r *resolver) dependencies(verdicts []Verdict) {
	if r.Snapshot.Kyma.DeletionTimestamp != nil || !requiresAnything(r.Snapshot) {
		return
	}
	going := map[string][]requirements.Requirement{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Manifest != nil && (v.Kind == Removed || terminating(v.Manifest)) && !leaving(v.Manifest) {
			going[v.Module] = append(going[v.Module], r.requiredBy(v, v.Manifest)...)
		}
	}
	graph := requirements.NewGraph(going)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Kind != Removed || v.Manifest == nil || terminating(v.Manifest) {
			continue
		}
		if v.After = removedBefore(graph, v.Module); len(v.After) > 0 {
			v.removedAfter(ruleRemovedAfter.message("detail", modulesThat(v.After, ", which ", "needs", "need")))
		}
	}
}

// removedAfter tells what a removal waits for. Why the module is removed stays in the message where that is more than that the spec does
// not name it.
func (v *Verdict) removedAfter(message string) {
	if v.Successor != "" || v.State != v1beta2.StateDeleting {
		v.Message += "; " + message
		return
	}
	v.is(Removed, ruleRemovedAfter, message)
}

// removedBefore returns the modules of a graph that are removed before one that they need, however indirectly: all but those that it needs,
// too.
func removedBefore(graph requirements.Graph, module string) []string {
	dependents := slices.DeleteFunc(graph.Cascade(module), func(dependent string) bool {
		return dependent == module || graph.Needs(module, dependent)
	})
	slices.Sort(dependents)
	return dependents
}

// inOrder returns those of a Kyma's Manifests to delete that no other one needs that is still there, so that modules are removed before
// those that they need. What requires each other is deleted together.
func inOrder(w Snapshot, doomed []v1beta2.Manifest) []v1beta2.Manifest {
	lists := map[string][]requirements.Requirement{}
	for i := range w.Manifests {
		if manifest := &w.Manifests[i]; ours(w.Kyma, manifest) && manifest.Annotations[v1beta2.AnnotationRequires] != "" {
			module := manifest.Labels[v1beta2.LabelModuleName]
			lists[module] = append(lists[module], noted(manifest)...)
		}
	}
	if len(lists) == 0 {
		return doomed
	}
	graph := requirements.NewGraph(lists)
	return slices.DeleteFunc(doomed, func(manifest v1beta2.Manifest) bool {
		return len(removedBefore(graph, manifest.Labels[v1beta2.LabelModuleName])) > 0
	})
}
