package hostcmd

import (
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// Commands are the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	return nil
}
