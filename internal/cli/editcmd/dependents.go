package editcmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// withDependents returns the modules with those that need them, which --cascade takes along, in the order of removal. Without it modules
// that need one of them block the deletion. The lifecycle manager would keep such a module, and say so only then.
func (d *deleting) withDependents(s *session, modules []string) ([]string, error) {
	if d.keep {
		return modules, nil // nothing of the module goes
	}
	if err := d.blocked(s, modules); err != nil {
		return nil, err
	}
	all := s.Cascade(modules...)
	d.dependents = map[string][]string{}
	for _, name := range all {
		if slices.Contains(modules, name) {
			continue
		}
		if s.Theirs(name) {
			return nil, d.elsewhere(s, name)
		}
		d.dependents[name] = slices.DeleteFunc(slices.Clone(s.Graph()[name]), func(needed string) bool { return !slices.Contains(all, needed) })
	}
	if len(d.dependents) == 0 {
		return modules, nil
	}
	if d.cascade != "preview" {
		d.console.Sayf("To be deleted as well, since they need it:")
		for _, name := range slices.Sorted(maps.Keys(d.dependents)) {
			d.console.Sayf("  module %s (needs %s)", name, strings.Join(d.dependents[name], ", "))
		}
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return kymaedit.Entry(&s.Asked, name) == nil && !slices.Contains(modules, name)
	}), nil
}

// blocked returns the error for a module that others of the Kyma need, unless --cascade takes those along.
func (d *deleting) blocked(s *session, modules []string) error {
	for _, name := range modules {
		var by []string
		for dependent, needs := range s.Dependents(modules...) {
			if slices.Contains(needs, name) {
				by = append(by, dependent)
			}
		}
		slices.Sort(by)
		leaving := modulestatus.DeleteInput{Module: name, Managed: true, Dependents: by, Cascade: d.cascade != "false"}
		if err := d.step(leaving); err != nil {
			return err
		}
	}
	return nil
}
