package report

import (
	"fmt"
	"slices"
	"strings"
)

// command is a command line with the cases that it gave on one machine and day.
type command struct {
	line, day string
	machine   int
	cases     []string
}

// machinesOf lists what the results were taken on, each once, in the order of the results.
func machinesOf(results []Result) []Machine {
	var found []Machine
	for _, r := range results {
		if !slices.Contains(found, r.Machine) {
			found = append(found, r.Machine)
		}
	}
	return found
}

// letter returns how the page refers to a machine.
func letter(i int) string { return string(rune('a' + i%26)) }

func machineTable(machines []Machine) string {
	if len(machines) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintln(&text, "| run on | processor | memory | kernel | Go | Kubernetes | revision |\n|---|---|---|---|---|---|---|")
	for i, m := range machines {
		fmt.Fprintf(&text, "| %s | %s, %d cores | %d GiB | %s | %s | %s | %s |\n",
			letter(i), cell(m.CPU), m.Cores, m.MemoryGiB, cell(m.Kernel), cell(m.Go), cell(m.Kubernetes), cell(m.Revision))
	}
	fmt.Fprintln(&text)
	return text.String()
}

// writeCommands tells which command gave which cases. One that gave all is told without them.
func writeCommands(text *strings.Builder, all []command) {
	var merged []command
	for _, c := range all {
		i := slices.IndexFunc(merged, func(o command) bool { return o.line == c.line && o.machine == c.machine && o.day == c.day })
		if i < 0 {
			merged = append(merged, c)
			continue
		}
		merged[i].cases = append(merged[i].cases, c.cases...)
	}
	for _, c := range merged {
		cases := ""
		if len(merged) > 1 {
			cases = ", for " + strings.Join(c.cases, "; ")
		}
		fmt.Fprintf(text, "- by `%s`, on %s, %s%s\n", c.line, letter(c.machine), c.day, cases)
	}
	if len(merged) > 0 {
		fmt.Fprintln(text)
	}
}
