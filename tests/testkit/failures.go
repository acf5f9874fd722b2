package testkit

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// TellFailures repeats this many failures, this many lines of each, and this many characters of each line.
const failuresTold, linesTold, columnsTold = 3, 8, 300

// TellFailures repeats the failures of a suite and their causes, for a user who sees only the last lines of a long output. It is for
// ReportAfterSuite.
func TellFailures(report types.Report) {
	_, _ = fmt.Fprint(os.Stdout, failuresOf(report))
}

func failuresOf(report types.Report) string {
	var text strings.Builder
	failed := report.SpecReports.WithState(types.SpecStateFailureStates)
	for i := range failed[:min(len(failed), failuresTold)] {
		failure := failed[i].Failure
		what := cmp.Or(failed[i].FullText(), failed[i].LeafNodeType.String())
		_, _ = fmt.Fprintf(&text, "\nFAILED: %s\n  at %s\n", what, failure.Location)
		lines := strings.Split(strings.TrimSpace(failure.Message+"\n"+failure.ForwardedPanic), "\n")
		for _, line := range lines[:min(len(lines), linesTold)] {
			_, _ = fmt.Fprintf(&text, "  %.*s\n", columnsTold, line)
		}
	}
	return text.String()
}
