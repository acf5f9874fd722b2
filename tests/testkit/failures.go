package testkit

import (
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// How much of a failure TellFailures repeats, of how many.
const failuresTold, linesTold, columnsTold = 3, 8, 300

// TellFailures repeats what failed in a suite, and why, for somebody who sees only the last lines of a long output. It is for
// ReportAfterSuite.
func TellFailures(report types.Report) {
	_, _ = fmt.Fprint(os.Stdout, failuresOf(report))
}

func failuresOf(report types.Report) string {
	var text strings.Builder
	failed := report.SpecReports.WithState(types.SpecStateFailureStates)
	for i := range failed[:min(len(failed), failuresTold)] {
		failure := failed[i].Failure
		_, _ = fmt.Fprintf(&text, "\nFAILED: %s\n  at %s\n", failed[i].FullText(), failure.Location)
		lines := strings.Split(strings.TrimSpace(failure.Message), "\n")
		for _, line := range lines[:min(len(lines), linesTold)] {
			_, _ = fmt.Fprintf(&text, "  %.*s\n", columnsTold, line)
		}
	}
	return text.String()
}
