package editcmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// runBulk takes modules out of many Kymas.
func (d *deleting) runBulk(ctx context.Context, args []string) error {
	switch {
	case d.keep:
		return console.Usage("--keep-resources is for one Kyma: it waits in between").With("--kyma names it")
	case d.cascade == "preview":
		return console.Usage("--cascade=preview is for one Kyma").With("--cascade --dry-run=client shows which modules go in many")
	}
	b, err := d.openBulk(ctx, true)
	if err != nil {
		return err
	}
	if err := b.known(args); err != nil {
		return err
	}
	names := english.WordSeries(args, "and")
	b.doing, b.question = "deleting "+names+" from", "Delete "+names+" from"
	edit := func(s *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
		return d.deleteFrom(s, kyma, args)
	}
	return b.carryOut(ctx, b.edits(ctx, edit, func(s *session, done applied) (wants []waitfor.Expectation) {
		for _, change := range done.changes {
			if change.Action != kymaedit.Unchanged || s.StatusOf(change.Module) != nil {
				wants = append(wants, waitfor.Expectation{Module: change.Module, Gone: true})
			}
		}
		return wants
	}))
}

// errHere refuses a Kyma whose modules are in this cluster: what users made with them must be looked for, as for one Kyma.
var errHere = errors.New("its modules are in this cluster: delete them with --kyma, which looks for what users made with them")

// deleteFrom takes modules out of one of many Kymas, with those that need them if a flag says so.
func (d *deleting) deleteFrom(
	s *session, kyma *v1beta2.Kyma, modules []string,
) (changes []kymaedit.Change, message string, err error) {
	leaving, err := d.leaving(s, modules)
	if err != nil {
		return nil, "", err
	}
	for _, name := range slices.Concat(leaving, lackedBy(leaving, modules)) {
		changes = append(changes, kymaedit.Disable(&kyma.Spec, name))
	}
	if len(leaving) == 0 {
		return changes, "does not have " + english.WordSeries(modules, "or"), nil
	}
	return changes, described(changes, &kyma.Spec), nil
}

// lackedBy returns the modules that are not among those that leave.
func lackedBy(leaving, modules []string) []string {
	return slices.DeleteFunc(slices.Clone(modules), func(name string) bool { return slices.Contains(leaving, name) })
}

// leaving returns which modules go from a Kyma, in the order of removal: of the named ones those that it has, and with --cascade those that
// need them.
func (d *deleting) leaving(s *session, modules []string) ([]string, error) {
	has := slices.DeleteFunc(slices.Clone(modules), func(name string) bool { return !s.Has(name) })
	if len(has) == 0 {
		return nil, nil
	}
	if s.Here() {
		return nil, errHere
	}
	if err := d.blocked(s, has); err != nil {
		return nil, err
	}
	all := s.Cascade(has...)
	theirs := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !s.Theirs(name) })
	if len(theirs) > 0 {
		return nil, errors.New("only the user of the runtime asks for " + strings.Join(theirs, ", ") + ", and must delete it there")
	}
	return all, nil
}
