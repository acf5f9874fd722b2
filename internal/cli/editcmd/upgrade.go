package editcmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// upgrading is one call of `kyma upgrade`.
type upgrading struct {
	*change
	all    bool
	to     string
	direct directFlags
}

func upgrade(c *change) *cobra.Command {
	u := &upgrading{change: c}
	c.unchanged = upgradeState
	command := &cobra.Command{
		Use:   "upgrade [NAME...]",
		Short: "Upgrade modules to another version or channel",
		Long: "A module that follows a channel is upgraded by the lifecycle manager as soon as the channel offers something newer: there\n" +
			"this only waits until it runs. A module that stays at a version gets the newest there is, or what --to says.\n" +
			"A module that was installed directly is installed in the newest version, or the one of --to; its custom resources stay as they are.\n" +
			"One that came from a catalog is looked for there again, with the digest or the signature that was asked for then.\n\n" +
			"--selector, --state, --on-channel, --with-module and --all-kymas select many Kymas; --all means all modules of each.",
		Example: "  kyma upgrade notes\n" +
			"  kyma upgrade notes --to 1.2.0\n" +
			"  kyma upgrade notes beacon --to fast\n" +
			"  kyma upgrade --all --dry-run=client\n" +
			"  kyma upgrade notes --to fast --selector ring=canary",
		Args:              names(0, -1, "NAME"),
		ValidArgsFunction: c.completeEnabled,
		RunE:              func(command *cobra.Command, args []string) error { return u.run(command.Context(), args) },
	}
	c.flags(command)
	c.bulkFlag(command)
	flags := command.Flags()
	flags.BoolVar(&u.all, "all", false, "all modules")
	flags.StringVar(&u.to, "to", "", "version or channel (default: the newest version that is no pre-release)")
	c.strategyFlag(command)
	u.direct.addSource(flags)
	u.direct.addAgain(flags, c)
	return command
}

func (u *upgrading) run(ctx context.Context, args []string) error {
	goal, err := u.goal(args)
	if err == nil {
		err = u.checkStrategy()
	}
	if err != nil {
		return err
	}
	many, err := u.many()
	switch {
	case err != nil:
		return err
	case many:
		return u.runBulk(ctx, args, goal)
	}
	s, managed, direct, err := u.sort(ctx, args)
	if err != nil {
		return err
	}
	if len(direct) > 0 && u.strategy != "" {
		return console.Usage("--upgrade-strategy: %s was installed directly, and only you upgrade it", direct[0])
	}
	for _, name := range direct {
		if err := u.direct.upgrade(ctx, u.change, kymaedit.ModuleRequest{Name: name, Channel: goal.Channel, Version: goal.Version}); err != nil {
			return err
		}
	}
	if len(managed) == 0 {
		return nil
	}
	done, err := u.apply(ctx, s, func(kyma *v1beta2.Kyma) (changes []kymaedit.Change, err error) {
		for _, name := range managed {
			change, err := u.one(s, kyma, name, goal)
			if err != nil {
				return nil, err
			}
			changes = append(changes, change)
		}
		return changes, nil
	})
	if err != nil {
		return err
	}
	var wants []waitfor.Expectation
	for _, name := range managed {
		wants = append(wants, waitfor.Expectation{Module: name, Version: s.Version(&done.spec, name)})
	}
	return u.follow(ctx, s, done.After, wants)
}

// upgradeState returns the state of an upgrade that edits no entry: the lifecycle manager follows the channel, and may be at work.
func upgradeState(s *session, spec *v1beta2.KymaSpec, module string) string {
	const current, underWay = "up to date", "upgrading"
	if s == nil {
		return current
	}
	status, goal := s.StatusOf(module), s.Version(spec, module)
	if status != nil && modulestatus.Awaits(status.Pending) {
		return "waits for consent"
	}
	settled := []v1beta2.State{v1beta2.StateReady, v1beta2.StateWarning, v1beta2.StateUnmanaged}
	if status == nil || goal != "" && status.Version != goal || !slices.Contains(settled, status.State) {
		return underWay
	}
	return current
}

// goal returns the target of the upgrade.
func (u *upgrading) goal(args []string) (kymaedit.ModuleRequest, error) {
	switch {
	case u.all == (len(args) > 0):
		return kymaedit.ModuleRequest{}, console.Usage("no module is named").With("name some, or use --all")
	case u.to == "":
		return kymaedit.ModuleRequest{}, nil
	}
	wish, err := kymaedit.ParseTarget(u.to)
	if err != nil {
		return kymaedit.ModuleRequest{}, console.Usage("--to: %w", err)
	}
	return wish, nil
}

// sort separates modules of the Kyma from those that were installed directly.
func (u *upgrading) sort(ctx context.Context, args []string) (s *session, managed, direct []string, err error) {
	s, err = u.open(ctx)
	noKyma := console.Code(err) == console.CodeNotFound
	if err != nil && !noKyma {
		return nil, nil, nil, err
	}
	cluster, clientErr := u.target.Client()
	if clientErr != nil {
		return nil, nil, nil, clientErr
	}
	if !noKyma {
		if err := s.Load(ctx, s); err != nil {
			return nil, nil, nil, err
		}
	}
	installed := u.directHere(ctx, cluster, s)
	if u.all {
		args = slices.Clone(installed)
		if !noKyma {
			for i := range s.Asked.Modules {
				args = append(args, s.Asked.Modules[i].Name)
			}
		}
	}
	for _, name := range args {
		switch {
		case !noKyma && kymaedit.Entry(&s.Asked, name) != nil:
			managed = append(managed, name)
		case slices.Contains(installed, name):
			direct = append(direct, name)
		case noKyma:
			return nil, nil, nil, notInstalled(name, err)
		default:
			return nil, nil, nil, u.absent(s, name, slices.Contains(u.directThere(ctx, s), name))
		}
	}
	return s, managed, direct, nil
}

// one upgrades one entry.
func (u *upgrading) one(s *session, kyma *v1beta2.Kyma, name string, goal kymaedit.ModuleRequest) (kymaedit.Change, error) {
	entry := kymaedit.Entry(&kyma.Spec, name)
	if entry == nil {
		return kymaedit.Change{}, console.NotFound("Kyma %s no longer has module %s", s.Key(), name)
	}
	wish, changes, err := s.Goal(entry, &kyma.Spec, goal)
	switch {
	case err != nil:
		return kymaedit.Change{}, judged(err)
	case !changes:
		wish = kymaedit.ModuleRequest{Name: name}
	}
	wish.Strategy = v1beta2.UpgradeStrategy(u.strategy)
	return kymaedit.Enable(&kyma.Spec, wish), nil
}
