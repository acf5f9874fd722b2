package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// printStages prints one line per stage. Stages inside another one are indented. The total is the time from the first start to the last
// end.
func printStages(out io.Writer, results []result) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nseconds\tprocessor\tbudget\t\t  stage\n")
	var used time.Duration
	var first, last time.Time
	for i := range results {
		r := &results[i]
		if r.depth() == 0 {
			used += r.CPU
		}
		if first.IsZero() || r.Began.Before(first) {
			first = r.Began
		}
		if end := r.Began.Add(r.Took); end.After(last) {
			last = end
		}
		budget := "-"
		if r.Budget > 0 {
			budget = whole(r.Budget)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", whole(r.Took), whole(r.CPU), budget, r.verdict(), strings.Repeat("  ", r.depth()+1)+r.Target)
	}
	fmt.Fprintf(table, "%s\t%s\t\t\t  total\n", whole(last.Sub(first)), whole(used))
	_ = table.Flush()
}

// printTests prints one line per test.
func printTests(out io.Writer, tests []test) {
	if len(tests) == 0 {
		return
	}
	fmt.Fprintf(out, "\nThe %d slowest tests and set-ups, in seconds:\n", len(tests))
	for _, t := range tests {
		fmt.Fprintf(out, "%8.1f  %s: %s\n", t.Took.Seconds(), t.Suite, t.Name)
	}
}

const (
	// failuresShown and linesShown keep the end of the output short, because it may be all that is kept; the rest is above, or in the JUnit
	// files.
	failuresShown = 12
	linesShown    = 8
	lineWidth     = 160
)

// printFailures prints the failed tests and the first lines of each failure.
func printFailures(out io.Writer, failed []test) {
	for i, t := range failed {
		if i == failuresShown {
			fmt.Fprintf(out, "\nand %d more\n", len(failed)-failuresShown)
			return
		}
		fmt.Fprintf(out, "\nFAILED  %s: %s\n", t.Suite, t.Name)
		shown := 0
		for line := range strings.Lines(t.Failure) {
			if line = strings.TrimSpace(line); line != "" && shown < linesShown {
				fmt.Fprintf(out, "    %.*s\n", lineWidth, line)
				shown++
			}
		}
	}
}

func whole(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }
