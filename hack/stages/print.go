package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// printStages prints one line a stage. Stages inside another one are indented.
// The total is what the clock says, from the first to the last.
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

// printTests prints one line a test.
func printTests(out io.Writer, tests []test) {
	if len(tests) == 0 {
		return
	}
	fmt.Fprintf(out, "\nThe %d slowest tests and set-ups, in seconds:\n", len(tests))
	for _, t := range tests {
		fmt.Fprintf(out, "%8.1f  %s: %s\n", t.Took.Seconds(), t.Suite, t.Name)
	}
}

func whole(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }
