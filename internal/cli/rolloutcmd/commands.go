package rolloutcmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command { return commands(c, t, time.Now) }

// commands are those of Commands with a clock, which tests set.
func commands(c *console.Console, t *target.Target, now func() time.Time) []*cobra.Command {
	call := func() *call { return &call{console: c, target: t, now: now} }
	rollout := &cobra.Command{
		Use:   "rollout",
		Short: "Show and control rollouts of module versions",
		Long: "A ModuleRollout says in which waves the Kymas get the version that a channel names. These commands show how far it is, and\n" +
			"let a person pause it, go on, approve a wave, or end it. They are for the cluster of the lifecycle manager.",
	}
	rollout.AddCommand(list(call()), status(call()), pause(call()), resume(call()), approve(call()), abort(call()))
	release := &cobra.Command{Use: "release", Short: "Say which version of a module each channel offers"}
	release.AddCommand(releaseStatus(call()), releasePreview(call()))
	return []*cobra.Command{rollout, release}
}

// call is one call of a command: its flags, console and target.
type call struct {
	console *console.Console
	target  *target.Target
	now     func() time.Time

	everywhere  bool
	watch, wait bool
	timeout     time.Duration
	channel     string
	wave        string
	dryRun      string
	output      *console.Formats
}

func (c *call) outputFlag(command *cobra.Command, what string, formats ...console.Format) {
	c.output = console.OutputFlag(formats...)
	command.Flags().VarP(c.output, "output", "o", what+": "+c.output.Words())
}

func (c *call) watchFlag(command *cobra.Command) {
	command.Flags().BoolVarP(&c.watch, "watch", "w", false, "keep watching, and print it again on every change")
}

func (c *call) channelFlag(command *cobra.Command, what string) {
	command.Flags().StringVarP(&c.channel, "channel", "c", "", what)
	_ = command.RegisterFlagCompletionFunc("channel", c.completeChannels)
}

// isText reports whether the output is for users.
func (c *call) isText() bool {
	return c.output.Format == console.Table || c.output.Format == console.Wide
}

// named requires the name of a module, or accepts one.
func named(required bool) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case required && len(args) == 0:
			return console.Usage("%s: NAME is missing", command.CommandPath()).With("%s --help shows examples", command.CommandPath())
		case len(args) > 1:
			return console.Usage("unexpected argument %q: %s takes one NAME", args[1], command.CommandPath()).
				With("%s --help shows examples", command.CommandPath())
		}
		return nil
	}
}
