package askcmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	return []*cobra.Command{showPermissions(&asking{console: c, target: t}), showRequirements(&asking{console: c, target: t})}
}

// asking is one call of a command of this package.
type asking struct {
	console *console.Console
	target  *target.Target

	kyma   string
	output *console.Formats
}

// prepare adds what both commands have.
func (a *asking) prepare(command *cobra.Command) {
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return console.Usage("name one module").With("%s notes, or %[1]s notes:1.1.0", command.CommandPath())
		}
		return nil
	}
	command.ValidArgsFunction = a.complete
	flags := command.Flags()
	flags.StringVar(&a.kyma, "kyma", "", "the Kyma, as NAMESPACE/NAME or NAME (default: the only one there is, if any)")
	_ = command.RegisterFlagCompletionFunc("kyma", a.target.CompleteKymas)
	a.output = console.OutputFlag(console.Table, console.Wide, console.JSON, console.YAML)
	flags.VarP(a.output, "output", "o", "how to write it: "+a.output.Words())
}

const nothing = cobra.ShellCompDirectiveNoFileComp

// complete completes modules, and behind a colon their versions and channels.
func (a *asking) complete(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	cluster, err := a.target.Client()
	if err != nil || len(args) > 0 {
		return nil, nothing
	}
	s, err := a.open(command.Context(), cluster)
	if err != nil || s.Load(command.Context(), cluster) != nil {
		return nil, nothing
	}
	var found []string
	name, _, behind := strings.Cut(text, ":")
	for module, offer := range s.Offers {
		switch {
		case !behind:
			found = append(found, module)
		case module == name:
			for _, version := range offer.Versions {
				found = append(found, module+":"+version)
			}
			for channel := range offer.Channels {
				found = append(found, module+":"+channel)
			}
		}
	}
	slices.Sort(found)
	return found, nothing | cobra.ShellCompDirectiveNoSpace
}
