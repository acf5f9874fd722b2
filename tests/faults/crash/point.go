package crash

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

// When tells on which side of a call the manager dies.
type When string

const (
	// Before the server behind is asked.
	Before When = "before"
	// After the server has carried the call out, and before the manager is told.
	After When = "after"
)

// Point is a moment in an operation. It names a call by what it does and not by its number, for calls overtake each other.
type Point struct {
	// Operation, and the server (proxy) that the call goes to.
	Operation string `json:"operation"`
	Server    string `json:"server"`
	// Call is what is called, in the words of proxy.Call, with "$id" for the ID of the Scene and "$hash" for what is made of it.
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

// name returns what a call does, whichever Scene it is for.
func name(call proxy.Call, id string) string {
	if id == "" {
		return call.String()
	}
	return hashed.ReplaceAllString(strings.ReplaceAll(call.String(), id, "$id"), "$$id-$$hash")
}

// Run are the calls of one run of an operation on the Scene of that ID.
type Run struct {
	ID    string
	Calls []proxy.Call
}

// PointsOf makes points of clean runs: two for every call that changed something, before and after it, in the order of the first run.
// A call that only some of the runs made is among them as well.
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

// call is what a point names, but for its side.
type call struct {
	server, name string
	occurrence   int
}

// counted returns the calls of a run that count, in the order of time.
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
