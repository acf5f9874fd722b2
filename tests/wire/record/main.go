// Command record adds new wire names to the recorded ones. It takes none away: see package wire.
package main

import (
	"fmt"
	"os"

	"github.com/kyma-project/lifecycle-manager/tests/wire"
)

func main() {
	for _, category := range wire.Categories {
		added, err := category.Record(".", "tests/wire/testdata")
		if err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		for _, fact := range added {
			_, _ = fmt.Fprintf(os.Stdout, "%s: %s\n", category.Name, fact)
		}
	}
}
