package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// completionPatience is how long a shell waits for words: a cluster that does not answer must not delay a user who only pressed Tab.
// Tests of the offered words set a longer time.
var completionPatience = 3 * time.Second

// completing limits the time of a command line that requests completion.
func completing(ctx context.Context, args []string) (context.Context, context.CancelFunc) {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return context.WithTimeout(ctx, completionPatience)
	}
	return ctx, func() {}
}

// completes adds to a command what completion has in common everywhere: flags with fixed words offer these, and arguments offer only
// words with the typed prefix.
func completes(command *cobra.Command) {
	offer := func(flag *pflag.Flag) {
		var words []string
		if formats, ok := flag.Value.(*console.Formats); ok {
			for _, format := range formats.Allowed {
				words = append(words, string(format))
			}
		} else if flag.Name == "dry-run" && flag.Value.Type() == "string" {
			words = []string{"none", "client", "server"}
		}
		if len(words) == 0 {
			return
		}
		if _, own := command.GetFlagCompletionFunc(flag.Name); !own {
			_ = command.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	// LocalFlags would give the same, and copies all flags of the parents into each of a hundred commands at every start.
	command.Flags().VisitAll(offer)
	command.PersistentFlags().VisitAll(offer)
	offers := command.ValidArgsFunction
	if offers == nil {
		return
	}
	command.ValidArgsFunction = func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		words, directive := offers(command, args, text)
		return slices.DeleteFunc(words, func(word string) bool { return !strings.HasPrefix(word, text) }), directive
	}
}
