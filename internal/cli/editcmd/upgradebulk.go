package editcmd

import (
	"context"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// runBulk upgrades modules of many Kymas: the named ones, or all. Those that a Kyma does not have do not concern it.
func (u *upgrading) runBulk(ctx context.Context, args []string, goal kymaedit.ModuleRequest) error {
	b, err := u.openBulk(ctx, true)
	if err != nil {
		return err
	}
	if err := b.known(args); err != nil {
		return err
	}
	names := "all modules"
	if len(args) > 0 {
		names = english.WordSeries(args, "and")
	}
	b.doing, b.question = "upgrading "+names+" in", "Upgrade "+names+" in"
	edit := func(s *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
		return u.upgradeIn(s, kyma, args, goal)
	}
	return b.carryOut(ctx, b.edits(ctx, edit, func(s *session, done applied) (wants []waitfor.Expectation) {
		for _, change := range done.changes {
			wants = append(wants, waitfor.Expectation{Module: change.Module, Version: s.Version(&done.spec, change.Module)})
		}
		return wants
	}))
}

// upgradeIn upgrades modules of one of many Kymas; none are all that it has.
func (u *upgrading) upgradeIn(
	s *session, kyma *v1beta2.Kyma, names []string, goal kymaedit.ModuleRequest,
) (changes []kymaedit.Change, message string, err error) {
	if len(names) == 0 {
		for i := range s.Asked.Modules {
			names = append(names, s.Asked.Modules[i].Name)
		}
	}
	for _, name := range names {
		if !s.Has(name) {
			continue
		}
		change, err := u.one(s, kyma, name, goal)
		if err != nil {
			return nil, "", err
		}
		changes = append(changes, change)
	}
	switch {
	case len(names) == 0:
		return nil, "has no modules", nil
	case len(changes) == 0:
		return nil, "does not have " + english.WordSeries(names, "or"), nil
	case !anyChange(changes):
		return changes, "needs no edit: what follows a channel is upgraded by the lifecycle manager", nil
	}
	return changes, described(changes, &kyma.Spec), nil
}
