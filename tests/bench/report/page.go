package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What stands between these lines of the page is made from results; everything else is written by users and kept.
const (
	beginMark = "<!-- figures: begin, written by make bench -->"
	endMark   = "<!-- figures: end -->"
)

// Titles say what the benches are about, where the page names them.
type titled struct{ bench, title string }

var titles = []titled{
	{"B0", "B0: a bare loop that writes into runtimes only"},
	{"B1", "B1: one module into one runtime"},
	{"B2", "B2: many Kymas at once"},
	{"B3", "B3: at rest"},
	{"B4", "B4: a new version for all"},
	{"B5", "B5: people who change their minds"},
	{"B6", "B6: changes in runtimes"},
	{"B7", "B7: runtimes that are dead or slow"},
	{"B8", "B8: restart"},
	{"B9", "B9: deletion"},
	{"B10", "B10: large modules"},
	{"B11", "B11: releases in waves"},
	{"B12", "B12: the way back"},
	{"owner", "The owner of a rollout is killed"},
}

// Page puts results and curves into the page docs/benchmarks.md.
func Page(old []byte, s Set) ([]byte, error) {
	head, rest, begun := bytes.Cut(old, []byte(beginMark))
	_, tail, ended := bytes.Cut(rest, []byte(endMark))
	if !begun || !ended {
		return nil, errors.New("the lines that enclose the figures are missing: " + beginMark + " and " + endMark)
	}
	s = Merge(Set{}, s)
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s\n\n", head, beginMark)
	machines := machinesOf(s.Results)
	text.WriteString(machineTable(machines))
	for _, bench := range benches(s) {
		fmt.Fprintf(&text, "### %s\n\n", title(bench))
		section(&text, bench, s, machines)
	}
	fmt.Fprintf(&text, "%s%s", endMark, tail)
	return []byte(text.String()), nil
}

// benches returns those of a set, in order.
func benches(s Set) []string {
	var names []string
	for _, r := range s.Results {
		names = append(names, r.Bench)
	}
	for _, c := range s.Curves {
		names = append(names, c.Bench)
	}
	slices.SortFunc(names, natural)
	return slices.Compact(names)
}

func title(bench string) string {
	for _, t := range titles {
		if t.bench == bench {
			return t.title
		}
	}
	return bench
}

// section tells one bench: its figures, what there is to say about them, where they come from, and its pictures.
func section(text *strings.Builder, bench string, s Set, machines []Machine) {
	var commands []command
	if slices.ContainsFunc(s.Results, func(r Result) bool { return r.Bench == bench }) {
		fmt.Fprintln(text, "| case | what | figure | bound | |\n|---|---|---:|---|---|")
	}
	for _, r := range s.Results {
		if r.Bench != bench {
			continue
		}
		which := r.Case
		for _, m := range r.Metrics {
			fmt.Fprintf(text, "| %s | %s | %s | %s | %s |\n",
				cell(which), cell(m.Name), cell(amount(m)), cell(m.Goal.String()), verdictText(m))
			which = ""
		}
		commands = append(commands, command{
			line: r.Command, day: r.At.UTC().Format("2006-01-02"), machine: slices.Index(machines, r.Machine), cases: []string{r.Case},
		})
	}
	fmt.Fprintln(text)
	notes(text, bench, s.Results)
	writeCommands(text, commands)
	for _, c := range s.Curves {
		if c.Bench == bench {
			writeCurve(text, &c)
		}
	}
}

func notes(text *strings.Builder, bench string, results []Result) {
	for _, r := range results {
		for _, note := range r.Notes {
			if r.Bench == bench {
				fmt.Fprintf(text, "- %s: %s\n", r.Case, note)
			}
		}
	}
}

// verdictText returns the verdict on the page, where what is missed must be seen.
func verdictText(m Metric) string {
	if v := verdict(m); v != "MISSED" {
		return v
	}
	return "**missed**"
}

func amount(m Metric) string {
	switch m.Unit {
	case "":
		return Figure(m.Value)
	case "%":
		return Figure(m.Value) + " %"
	}
	return Figure(m.Value) + " " + m.Unit
}

// writeCurve shows a curve, and says in words what it shows.
func writeCurve(text *strings.Builder, c *Curve) {
	fmt.Fprintf(text, "![%s](img/%s.svg)\n\n", c.Title, c.Name)
	for _, l := range c.Lines {
		law := l.Law()
		if law.Points < 2 {
			continue
		}
		fmt.Fprintf(text, "- %s: exponent %s through %d points, R² %.3f", l.Name, exponent(law), law.Points, law.R2)
		if m := (Metric{Value: law.Exponent, Goal: c.Goal}); !l.Limit && law.Points >= fewest && c.Goal.Is != "" {
			fmt.Fprintf(text, " (bound %s, %s)", c.Goal, verdictText(m))
		}
		fmt.Fprintln(text)
	}
	if c.Command != "" {
		fmt.Fprintf(text, "- by `%s`\n", c.Command)
	}
	fmt.Fprintln(text)
}

// cell keeps a text within its cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", "\\|"), "\n", " ")
}
