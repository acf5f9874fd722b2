package editcmd

import (
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

const (
	// usualConcurrency is how many Kymas are written at a time, and mostConcurrency how many may be.
	usualConcurrency = 8
	mostConcurrency  = 64
)

// bulkFlags are the flags of a command that can be about many Kymas.
type bulkFlags struct {
	selection         target.Selection
	concurrency       int
	failFast, verbose bool
}

// bulkFlag adds the flags for many Kymas, after the others of a command.
func (c *change) bulkFlag(command *cobra.Command) {
	c.bulk.selection.AddFlags(command)
	flags := command.Flags()
	flags.IntVar(&c.bulk.concurrency, "concurrency", usualConcurrency, "with many Kymas: how many are written at a time")
	flags.BoolVar(&c.bulk.failFast, "fail-fast", false, "with many Kymas: begin no further one after a failure")
	flags.BoolVar(&c.bulk.verbose, "verbose", false, "with many Kymas: name all of them in the summary")
	if c.waits != nil {
		c.waits.Usage += "; with many Kymas only if it is given"
	}
}

// many reports whether the flags select many Kymas, and returns what is wrong with them.
func (c *change) many() (bool, error) {
	given := c.bulk.selection.Given()
	switch {
	case given && c.kyma != "":
		return false, console.Usage("--kyma and the flags that select many Kymas exclude each other")
	case !given && c.bulk.selection.Everywhere:
		return false, console.Usage("--all-namespaces alone selects nothing").With("--all-kymas selects all Kymas")
	case c.bulk.concurrency < 1 || c.bulk.concurrency > mostConcurrency:
		return false, console.Usage("--concurrency=%d is not between 1 and %d", c.bulk.concurrency, mostConcurrency)
	}
	return given, nil
}

// waitsForMany reports whether a command for many Kymas waits: only if it was told to, since a fleet takes hours rather than minutes.
func (c *change) waitsForMany() bool {
	return c.wait && c.waits != nil && c.waits.Changed && !c.dry()
}
