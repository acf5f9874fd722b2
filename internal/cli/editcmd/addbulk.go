package editcmd

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// runBulk adds modules to many Kymas. Whether a module is installed directly in one of their clusters is not looked at: the lifecycle
// manager refuses what another installer has.
func (a *adding) runBulk(ctx context.Context, asked []kymaedit.ModuleRequest) error {
	switch {
	case a.direct.isSet():
		return console.Usage("--community and --unmanaged install into this cluster, and into no other one")
	case a.adopt, a.cr != nil:
		return console.Usage("--adopt and --cr are for one Kyma").With("--kyma names it")
	}
	b, err := a.openBulk(ctx, true)
	if err != nil {
		return err
	}
	community := map[string]func() bool{} // the templates of all namespaces are read at most once for each module
	for _, wish := range asked {
		community[wish.Name] = sync.OnceValue(func() bool { return kymaedit.Community(ctx, b.cluster, wish.Name) })
	}
	names := requested(asked)
	b.doing, b.question = "adding "+names+" in", "Add "+names+" in"
	edit := func(s *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
		for _, wish := range asked {
			if err := admitted(s.MayAdd(wish, false, community[wish.Name])); err != nil {
				return nil, "", err
			}
		}
		return a.addTo(s, kyma, asked)
	}
	return b.carryOut(ctx, b.edits(ctx, edit, func(s *session, done applied) []waitfor.Expectation {
		_, waiting := a.lacking(s, asked)
		return slices.DeleteFunc(running(&done.spec, done.changes), func(want waitfor.Expectation) bool { return waiting[want.Module] != "" })
	}))
}

// requested returns the names of requested modules.
func requested(asked []kymaedit.ModuleRequest) string {
	var names []string
	for _, wish := range asked {
		names = append(names, wish.Name)
	}
	return english.WordSeries(names, "and")
}

// addTo adds modules to one of many Kymas, with those that they need if a flag says so.
func (a *adding) addTo(
	s *session, kyma *v1beta2.Kyma, asked []kymaedit.ModuleRequest,
) (changes []kymaedit.Change, message string, err error) {
	more, waiting := a.lacking(s, asked)
	if changes, err = s.enable(append(more, asked...))(kyma); err != nil {
		return nil, "", err
	}
	if !anyChange(changes) {
		return changes, "has " + requested(asked) + " already", nil
	}
	message = described(changes, &kyma.Spec)
	if len(waiting) > 0 {
		needed := slices.Compact(slices.Sorted(maps.Values(waiting)))
		message += ", which waits for " + strings.Join(needed, ", ")
	}
	return changes, message, nil
}

// lacking returns what requested modules need and the Kyma does not have: what --with-requirements adds, and the requested modules that
// will wait, each with what it waits for.
func (a *adding) lacking(s *session, asked []kymaedit.ModuleRequest) (more []kymaedit.ModuleRequest, waiting map[string]string) {
	waiting = map[string]string{}
	for _, lacking := range s.LackingFor(asked) {
		if a.required && lacking.Why == "" {
			more = append(more, lacking.Add)
			continue
		}
		for _, name := range lacking.For {
			if slices.ContainsFunc(asked, func(wish kymaedit.ModuleRequest) bool { return wish.Name == name }) {
				waiting[name] = lacking.Requirement.String()
			}
		}
	}
	return more, waiting
}
