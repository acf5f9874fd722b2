package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Table tells all results for a terminal, a figure a line. Those that miss their bound are marked.
func Table(s Set) string {
	rows := [][]string{{"BENCH", "CASE", "WHAT", "VALUE", "UNIT", "BOUND", ""}}
	for _, r := range Merge(Set{}, s).Results {
		bench, which := r.Bench, r.Case
		for _, m := range r.Metrics {
			rows = append(rows, []string{bench, which, m.Name, Figure(m.Value), m.Unit, m.Goal.String(), verdict(m)})
			bench, which = "", "" // told once
		}
	}
	rows = append(rows, curveRows(s.Curves)...)
	return align(rows)
}

func curveRows(curves []Curve) [][]string {
	var rows [][]string
	for _, c := range curves {
		bench, title := c.Bench, c.Title
		for _, l := range c.Lines {
			law := l.Law()
			if law.Points < 2 {
				continue
			}
			m := Metric{Name: "exponent of " + l.Name, Value: law.Exponent}
			if !l.Limit && law.Points >= fewest {
				m.Goal = c.Goal
			}
			rows = append(rows, []string{bench, title, m.Name, exponent(law), "", m.Goal.String(), verdict(m)})
			bench, title = "", ""
		}
	}
	return rows
}

// verdict is "met" or "MISSED" for a figure with a bound.
func verdict(m Metric) string {
	switch {
	case m.Goal.Is == "":
		return ""
	case m.Met():
		return "met"
	}
	return "MISSED"
}

// numbers are in the fourth column, which is aligned to the right.
const numbers = 3

func align(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == numbers {
				cell, pad = pad+cell, ""
			}
			fmt.Fprint(&line, cell, pad, "  ")
		}
		fmt.Fprintln(&text, strings.TrimRight(line.String(), " "))
	}
	return text.String()
}
