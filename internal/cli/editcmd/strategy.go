package editcmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

var strategies = []string{string(v1beta2.UpgradeAutomatic), string(v1beta2.UpgradeManual)}

// strategyFlag adds the flag for how modules follow their channel.
func (c *change) strategyFlag(command *cobra.Command) {
	command.Flags().StringVar(&c.strategy, "upgrade-strategy", "",
		"Automatic, or Manual: a version that the channel offers waits for kyma approve (default: as it is, Automatic for a new module)")
	_ = command.RegisterFlagCompletionFunc("upgrade-strategy", cobra.FixedCompletions(strategies, nothing))
}

// checkStrategy returns what is wrong with the flag.
func (c *change) checkStrategy() error {
	if c.strategy == "" || slices.Contains(strategies, c.strategy) {
		return nil
	}
	return console.Usage("--upgrade-strategy=%s is unknown", c.strategy).With("use Automatic or Manual")
}
