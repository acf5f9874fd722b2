package crash

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

// When is the side of a call on which the manager dies.
type When string

const (
	// Before: before the server receives the call.
	Before When = "before"
	// After: after the server has carried out the call, and before the manager receives the response.
	After When = "after"
)

// Point is a moment in an operation. It names a call by what it does and not by its number, because calls overtake each other.
type Point struct {
	// Operation, and the server (proxy) that the call goes to.
	Operation string `json:"operation"`
	Server    string `json:"server"`
	// Call describes the call in the form of proxy.Call, with "$id" for the ID of the Scenario and "$hash" for hashes of it.
	Call string `json:"call"`
	// Occurrence counts the same call within the operation, from 1.
	Occurrence int `json:"occurrence"`
	// When is before or after.
	When When `json:"when"`
	// N is the number of the call in the clean run, for users.
	N int `json:"n"`
}

// ID is unique among all points and the same in every run.
func (p Point) ID() string {
	return fmt.Sprintf("%s %s %s: %s #%d", p.Operation, p.When, p.Server, p.Call, p.Occurrence)
}

// counts reports whether a death at the call is a point.
func counts(call proxy.Call) bool { return call.Mutating && !call.Heartbeat() }

// hashed are names that end in a hash of other names, as those of Manifests do.
var hashed = regexp.MustCompile(`\$id-[0-9]{4,}`)

// name describes a call independently of its Scenario.
func name(call proxy.Call, id string) string {
	if id == "" {
		return call.String()
	}
	return hashed.ReplaceAllString(strings.ReplaceAll(call.String(), id, "$id"), "$$id-$$hash")
}

// Run are the calls of one run of an operation on the Scenario of that ID.
type Run struct {
	ID    string
	Calls []proxy.Call
}

// PointsOf returns the points of clean runs: two for every call that changed something, before and after it, in the order of the first run.
// Calls that only some of the runs made are included.
func PointsOf(operation string, runs ...Run) []Point {
	var points []Point
	seen := map[call]bool{}
	for _, run := range runs {
		for n, c := range run.counted() {
			if seen[c] {
				continue
			}
			seen[c] = true
			for _, when := range []When{Before, After} {
				points = append(points, Point{
					Operation: operation, Server: c.server, Call: c.name, Occurrence: c.occurrence, When: when, N: n + 1,
				})
			}
		}
	}
	return points
}

// call is a point without its side.
type call struct {
	server, name string
	occurrence   int
}

// counted returns the calls of a run that count, in chronological order.
func (r Run) counted() []call {
	calls := slices.Clone(r.Calls)
	slices.SortStableFunc(calls, func(a, b proxy.Call) int { return a.At.Compare(b.At) })
	var found []call
	occurrences := map[call]int{}
	for _, c := range calls {
		if !counts(c) {
			continue
		}
		same := call{server: c.Server, name: name(c, r.ID)}
		occurrences[same]++
		found = append(found, call{server: same.server, name: same.name, occurrence: occurrences[same]})
	}
	return found
}
