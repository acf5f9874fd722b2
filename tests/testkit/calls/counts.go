package calls

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Counts holds how often each kind of call was made. A call that was never made has no key, so equal counts are equal maps.
type Counts map[Call]int

// Diff returns the counts added since an earlier snapshot.
func (c Counts) Diff(before Counts) Counts {
	diff := Counts{}
	for call, n := range c {
		if n != before[call] {
			diff[call] = n - before[call]
		}
	}
	return diff
}

// Total returns the number of calls.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// Where keeps the calls that match.
func (c Counts) Where(match func(Call) bool) Counts {
	kept := maps.Clone(c)
	maps.DeleteFunc(kept, func(call Call, _ int) bool { return !match(call) })
	return kept
}

// Writes returns the calls that may change something, except for Events and Leases, which a manager writes for its own purposes.
func (c Counts) Writes() Counts {
	return c.Where(func(call Call) bool {
		switch call.Resource {
		case "events", "events.events.k8s.io", "leases.coordination.k8s.io":
			return false
		}
		return call.Write()
	})
}

// Of keeps the calls whose user agent contains the given text.
func (c Counts) Of(agent string) Counts {
	return c.Where(func(call Call) bool { return strings.Contains(call.Agent, agent) })
}

// Plain drops the user agents, for a test in which all clients count as one.
func (c Counts) Plain() Counts {
	plain := Counts{}
	for call, n := range c {
		call.Agent = ""
		plain[call] += n
	}
	return plain
}

// String lists the calls, one per line, sorted, for the message of a test that counted too many.
func (c Counts) String() string {
	lines := make([]string, 0, len(c))
	for call, n := range c {
		lines = append(lines, fmt.Sprintf("%6d %s", n, call))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[6:], b[6:]) })
	return strings.Join(lines, "\n")
}
