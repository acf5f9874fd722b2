package getcmd

import (
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	made := func() *show { return &show{console: c, target: t} }
	catalog := &cobra.Command{Use: "catalog", Short: "Browse the available modules"}
	catalog.AddCommand(catalogList(made()), catalogShow(made()), catalogSearch(made()))
	kymas := &cobra.Command{Use: "kyma", Short: "See and change Kymas"}
	kymas.AddCommand(kymaList(made()), kymaGet(made()), releaseList(made()))
	return []*cobra.Command{
		list(made()), status(made()), tree(made()), trace(made()), events(made()), history(made()), catalog, kymas,
	}
}
