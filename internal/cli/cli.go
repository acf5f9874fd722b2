package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/askcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/authorcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/catalogcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/clustercmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/dashcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/editcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/getcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/hubcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/rolloutcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// The groups of the help text, in its order.
const (
	GroupModules = "modules"
	GroupAuthors = "authors"
	GroupHosts   = "hosts"
)

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, c *console.Console, args []string) int {
	c = c.Within(ctx)
	to := target.New()
	root := New(c, to)
	root.SetArgs(args)
	ctx, done := completing(ctx, args)
	defer done()
	return c.Fail(to.Explain(root.ExecuteContext(ctx)))
}

// New returns the root command with everything below it.
func New(c *console.Console, t *target.Target) *cobra.Command {
	root := &cobra.Command{
		Use:           "kyma",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: program()},
		Short:         "Package, sign, publish, install, enable and watch Kyma modules",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          help,
		Version:       build().line(),
	}
	root.SetVersionTemplate("kyma {{.Version}}\n")
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return console.Usage("%w", err).With("%s --help lists the flags", command.CommandPath())
	})
	t.AddFlags(root.PersistentFlags())
	root.PersistentFlags().BoolVarP(&c.Yes, "yes", "y", false, "answer yes to questions, as scripts must")
	root.AddGroup(
		&cobra.Group{ID: GroupModules, Title: "Modules of a cluster:"},
		&cobra.Group{ID: GroupAuthors, Title: "For authors of modules:"},
		&cobra.Group{ID: GroupHosts, Title: "Clusters and the lifecycle manager itself:"},
	)
	add(root, GroupModules, getcmd.Commands(c, t))
	add(root, GroupModules, editcmd.Commands(c, t))
	add(root, GroupModules, askcmd.Commands(c, t))
	add(root, GroupModules, dashcmd.Commands(c, t, Version))
	add(root, GroupModules, catalogcmd.Commands(c, t))
	add(root, GroupAuthors, authorcmd.Commands(c, t))
	add(root, GroupAuthors, rolloutcmd.Commands(c, t))
	add(root, GroupHosts, clustercmd.Commands(c, t, clustercmd.Release{Images: Images, Version: Version}))
	add(root, GroupHosts, hubcmd.Commands(c, t))
	add(root, "", []*cobra.Command{version(c)})
	tidy(root)
	return root
}

// tidy gives every command the same behaviour: arguments that do not fit are a usage error that names the help text, and a group of
// commands suggests the verb that may have been meant.
func tidy(command *cobra.Command) {
	command.SuggestionsMinimumDistance = 2
	if !command.Runnable() {
		command.Args, command.RunE = cobra.ArbitraryArgs, help
	}
	if fits := command.Args; fits != nil {
		command.Args = func(command *cobra.Command, args []string) error {
			if at := slices.Index(args, ""); at >= 0 {
				return console.Usage("%s: argument %d is empty", command.CommandPath(), at+1).With("is a variable of your shell not set?")
			}
			err := fits(command, args)
			var failure *console.Failure
			if err == nil || errors.As(err, &failure) {
				return err
			}
			return misfit(command, args, err)
		}
	}
	completes(command)
	for _, below := range command.Commands() {
		tidy(below)
	}
}

// misfit returns which argument of a command's usage line is missing, or which one is too many.
func misfit(command *cobra.Command, args []string, cause error) error {
	wanted, path := strings.Fields(command.Use)[1:], command.CommandPath()
	failure := console.Usage("%s: %w", path, cause)
	switch {
	case len(args) < len(wanted) && !strings.HasPrefix(wanted[len(args)], "["):
		failure = console.Usage("%s: %s is missing", path, wanted[len(args)])
	case len(args) > len(wanted):
		failure = console.Usage("unexpected argument %q: %s takes %s", args[len(wanted)], path, cmp.Or(strings.Join(wanted, " "), "no arguments"))
	}
	return failure.With("%s --help shows how to call it", path)
}

// add puts commands into a group. Of two commands with one name, the second gives its subcommands to the first: getcmd and editcmd both
// have some of `kyma kyma` and `kyma catalog`, authorcmd and rolloutcmd of `kyma release`.
func add(root *cobra.Command, group string, commands []*cobra.Command) {
	for _, command := range commands {
		if there := named(root, command.Name()); there != nil {
			there.AddCommand(command.Commands()...)
			continue
		}
		command.GroupID = group
		root.AddCommand(command)
	}
}

func named(root *cobra.Command, name string) *cobra.Command {
	for _, command := range root.Commands() {
		if command.Name() == name {
			return command
		}
	}
	return nil
}

// help handles a command without a verb. An unknown verb is a mistake, not a reason to print everything.
func help(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return command.Help()
	}
	failure := console.Usage("there is no command %q", command.CommandPath()+" "+args[0])
	if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
		return failure.With("did you mean %s?", strings.Join(similar, " or "))
	}
	return failure.With("%s --help lists the commands", command.CommandPath())
}

// program returns the name of kyma in the help text: as a kubectl plugin it is "kubectl kyma".
func program() string {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-") {
		return "kubectl kyma"
	}
	return "kyma"
}
