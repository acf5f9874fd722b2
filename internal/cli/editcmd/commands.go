package editcmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	call := func() *change { return &change{console: c, target: t} }
	return []*cobra.Command{
		add(call()), remove(call()), upgrade(call()), manage(call()), unmanage(call()),
		suspend(call()), resume(call()), reconcile(call()), diff(call()), rollback(call()), retry(call()), approve(call()),
		kymas(c, t), catalog(call()),
	}
}

// change is one call of a command that changes a Kyma: its flags, console and target.
type change struct {
	console *console.Console
	target  *target.Target

	kyma    string
	wait    bool
	waits   *pflag.Flag // --wait, where a command has it
	timeout time.Duration
	dryRun  string
	// bulk are the flags for many Kymas, where a command has them.
	bulk bulkFlags
	// strategy is flag --upgrade-strategy, where a command has it.
	strategy string
	output   *console.Formats
	again    bool // nothing is edited: a refusal may be an earlier one
	// goes is the version that a module goes back to, where that is not the one that its entry leads to.
	goes string
	// unchanged returns the text in tables for a module whose entry in a spec stays as it is; nil means the usual text. For a module that is
	// installed directly, s is nil.
	unchanged func(s *session, spec *v1beta2.KymaSpec, module string) string
}

// flags adds the flags that all such commands have.
func (c *change) flags(command *cobra.Command) {
	flags := command.Flags()
	c.kymaFlag(command)
	c.dryRunFlag(flags)
	c.waitFlags(flags)
	c.outputFlag(flags)
}

func (c *change) kymaFlag(command *cobra.Command) {
	command.Flags().StringVar(&c.kyma, "kyma", "", "the Kyma, as NAMESPACE/NAME or NAME (default: the only one there is)")
	_ = command.RegisterFlagCompletionFunc("kyma", c.target.CompleteKymas)
}

func (c *change) dryRunFlag(flags *pflag.FlagSet) {
	flags.StringVar(&c.dryRun, "dry-run", string(kymaedit.DryRunNone),
		"none, client (show what would change) or server (let the API server check it too)")
}

func (c *change) waitFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&c.wait, "wait", true, "wait until it is done, and show the progress")
	c.waits = flags.Lookup("wait")
	flags.DurationVar(&c.timeout, "timeout", 5*time.Minute, "how long to wait; a timeout is a failure")
}

func (c *change) outputFlag(flags *pflag.FlagSet) {
	c.output = console.OutputFlag(console.Table, console.JSON, console.YAML, console.Name)
	flags.VarP(c.output, "output", "o", "how to write what changed: "+c.output.Words())
}

// checked returns what is wrong with the flags.
func (c *change) checked() error {
	switch kymaedit.DryRun(c.dryRun) {
	case "", kymaedit.DryRunNone, kymaedit.DryRunClient, kymaedit.DryRunServer:
	default:
		return console.Usage("--dry-run=%s is unknown", c.dryRun).With("use one of none, client and server")
	}
	if c.timeout < 0 || c.wait && c.timeout == 0 && c.output != nil {
		return console.Usage("--timeout=%s is not positive", c.timeout).With("--wait=false does not wait")
	}
	return nil
}

// dry reports whether nothing may be written.
func (c *change) dry() bool {
	return c.dryRun != "" && kymaedit.DryRun(c.dryRun) != kymaedit.DryRunNone
}

// names requires a number of arguments; the error describes them by what. most < 0 means any number.
func names(least, most int, what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return console.Usage("%s: %s is missing", command.CommandPath(), what).With("%s --help shows examples", command.CommandPath())
		case most >= 0 && len(args) > most:
			return console.Usage("unexpected argument %q: %s takes %s", strings.Join(args[most:], " "), command.CommandPath(), what).
				With("%s --help shows examples", command.CommandPath())
		}
		return nil
	}
}

// wishes parses arguments, and sets a channel for those that name neither channel nor version.
func wishes(args []string, channel string) ([]kymaedit.ModuleRequest, error) {
	var all []kymaedit.ModuleRequest
	seen := map[string]string{}
	for _, arg := range args {
		wish, err := kymaedit.ParseWish(arg)
		if err != nil {
			return nil, console.Usage("%w", err)
		}
		if before, again := seen[wish.Name]; again && before != arg {
			return nil, console.Usage("%s and %s name the same module: give one of them", before, arg)
		} else if again {
			continue
		}
		seen[wish.Name] = arg
		if wish.Version == "" && wish.Channel == "" {
			wish.Channel = channel
		}
		all = append(all, wish)
	}
	return all, nil
}
