package editcmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// withRequirements says which modules the requested ones need and the Kyma does not have, and adds them to the request if a flag says so
// and the user agrees. It also returns the requested modules that will wait, each with what it waits for.
func (a *adding) withRequirements(
	ctx context.Context, s *session, asked []kymaedit.ModuleRequest,
) (all []kymaedit.ModuleRequest, waiting map[string]string, err error) {
	waiting = map[string]string{}
	var more []kymaedit.ModuleRequest
	var named []string
	for _, lacking := range s.LackingFor(asked) {
		by := english.WordSeries(lacking.For, "and")
		switch {
		case lacking.Why != "":
			a.console.Sayf("%s needs %s, and %s.", by, lacking.Requirement, lacking.Why)
		case a.required:
			more = append(more, lacking.Add)
			named = append(named, lacking.Module+" "+lacking.Version+" (for "+by+")")
			continue
		default:
			a.console.Sayf("%s needs %s, which Kyma %s does not have; --with-requirements adds it, too.", by, lacking.Requirement, s.Key())
		}
		for _, name := range lacking.For {
			waiting[name] = lacking.Requirement.String()
		}
	}
	maps.DeleteFunc(waiting, func(name, _ string) bool {
		return !slices.ContainsFunc(asked, func(wish kymaedit.ModuleRequest) bool { return wish.Name == name })
	})
	if len(more) == 0 || a.dry() {
		return append(more, asked...), waiting, nil
	}
	list := english.WordSeries(named, "and")
	err = a.console.Confirm(ctx, "adding "+list, fmt.Sprintf("Add %s to Kyma %s, too?", list, s.Key()))
	return append(more, asked...), waiting, err
}

// left returns the error for modules that wait for others: they are in the Kyma, and not installed.
func (a *adding) left(waiting map[string]string) error {
	if len(waiting) == 0 || !a.wait || a.dry() {
		return nil
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		texts = append(texts, name+" waits for "+waiting[name])
	}
	return (&console.Failure{Code: console.CodeWarning, Err: fmt.Errorf("%s", strings.Join(texts, ", "))}).
		With("it is installed at once when that is there; kyma requirements NAME shows all of it")
}
