package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
)

const (
	reportBegin = "<!-- results: written by go run ./tests/faults/run -report docs/reliability.md -->"
	reportEnd   = "<!-- end of results -->"

	// failureBytes of a problem are in the table; the point's file has all of it.
	failureBytes = 300
)

// list prints the cells of the matrix, and which of them have passed.
func list(book *record.Book, o options) error {
	for _, cell := range matrix.Cells(o.choice.Seed, o.operations) {
		passed := " "
		if book.Done("matrix", cell.Name()) {
			passed = "+"
		}
		fmt.Fprintln(o.out, passed, cell.Fault.Group, cell.Name(), cell.Break().Cause)
	}
	return nil
}

// writeReport writes the tables between the markers of a page.
func writeReport(book *record.Book, page string) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(data), reportBegin)
	_, tail, closed := strings.Cut(rest, reportEnd)
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q for the results to go between", page, reportBegin, reportEnd)
	}
	tables, err := tablesOf(book)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(head+reportBegin+"\n\n"+tables+"\n"+reportEnd+tail), 0o600)
}

func tablesOf(book *record.Book) (string, error) {
	var out strings.Builder
	out.WriteString("| suite | points run | passed | failed | not reached | longest until whole | on |\n|---|---|---|---|---|---|---|\n")
	failures := map[string][]record.Point{}
	for _, suite := range append(slices.Clone(suites), "soak") {
		points, err := book.All(suite)
		if err != nil {
			return "", err
		}
		row := summarise(points)
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %.1f s | %s |\n",
			suite, len(points), row.passed, row.failed, row.unreached, row.longest, row.day)
		for _, point := range points {
			if !point.Passed {
				failures[suite] = append(failures[suite], point)
			}
		}
	}
	points, err := book.All("matrix")
	if err != nil {
		return "", err
	}
	out.WriteString("\n" + matrixTable(points))
	for _, suite := range slices.Sorted(maps.Keys(failures)) {
		fmt.Fprintf(&out, "\nFailed in %s:\n\n", suite)
		for _, point := range failures[suite] {
			first, _, _ := strings.Cut(point.Problems[0], "\n")
			first = first[:min(len(first), failureBytes)]
			fmt.Fprintf(&out, "- `%s`: %s\n", point.Name, first)
		}
	}
	return out.String(), nil
}

type summary struct {
	passed, failed, unreached int
	longest                   float64
	day                       string
}

func summarise(points []record.Point) summary {
	var row summary
	for _, point := range points {
		switch {
		case point.Detail["outcome"] == "not reached":
			row.unreached++
		case point.Passed:
			row.passed++
		default:
			row.failed++
		}
		row.longest = max(row.longest, point.Converged)
		row.day = max(row.day, point.At.Format("2006-01-02"))
	}
	return row
}

// matrixTable has a row for each fault and a column for each operation: the seconds until everything was in order.
func matrixTable(points []record.Point) string {
	cells := map[string]record.Point{}
	for _, point := range points {
		key := point.Fault + "/" + point.Operation
		if known, found := cells[key]; !found || known.Passed {
			cells[key] = point
		}
	}
	var out strings.Builder
	out.WriteString("| fault |")
	operations := operation.All()
	for _, o := range operations {
		out.WriteString(" " + o.Name + " |")
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(operations)) + "\n")
	for _, fault := range matrix.Faults() {
		out.WriteString("| " + fault.Group + ": " + fault.Name + " |")
		for _, o := range operation.All() {
			point, found := cells[fault.Name+"/"+o.Name]
			switch {
			case !found:
				out.WriteString(" not run |")
			case point.Passed:
				fmt.Fprintf(&out, " %.1f s |", point.Converged)
			default:
				out.WriteString(" **failed** |")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}
