package modulecontent

import (
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// callsAtOnce bounds the calls that are under way in all, whether they are waited for or not; callsOfPlace those to one host. A host that
	// does not answer holds its own calls for minutes, and no more than a part of all.
	callsAtOnce, callsOfPlace = 32, 8
	// lapse is for how long a call that has not begun is wanted since it was last asked for. A caller that still wants the answer asks again
	// before that: longestPause is the longest pause between two questions.
	lapse = 2*longestPause + 30*time.Second
)

// fairLimiter lets a bounded number of calls be under way. The others wait; of them comes next the one whose place has the fewest under
// way, so that the many calls to a host that is slow leave the few to another one their turn, and among those the one that has waited
// longest.
type fairLimiter struct {
	most, each int

	mu      sync.Mutex
	all     int
	places  map[string]int // calls under way, by place
	waiting []*waiter      // in the order in which they came
}

// waiter is a call that has not begun.
type waiter struct {
	place string
	// wanted reports whether it is still to be made. After a no it is never asked again.
	wanted func() bool
	// begin gets true when the call may begin, and false when it is not wanted any more.
	begin chan bool
}

func newGate(most, each int) *fairLimiter {
	return &fairLimiter{most: most, each: each, places: map[string]int{}}
}

// enter waits until a call to a place may begin. It returns false when the call is not wanted any more; after true, leave must follow.
func (g *fairLimiter) enter(place string, wanted func() bool) bool {
	w := &waiter{place: place, wanted: wanted, begin: make(chan bool, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.startCallsLocked()
	g.mu.Unlock()
	return <-w.begin
}

// leave ends a call.
func (g *fairLimiter) leave(place string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.places[place]--; g.places[place] == 0 {
		delete(g.places, place)
	}
	g.startCallsLocked()
}

// startCallsLocked has as many calls begin as there is room for. The caller holds the lock.
func (g *fairLimiter) startCallsLocked() {
	for g.all < g.most {
		next := g.nextCallLocked()
		if next < 0 {
			return
		}
		w := g.waiting[next]
		g.waiting = slices.Delete(g.waiting, next, next+1)
		if !w.wanted() {
			w.begin <- false
			continue
		}
		g.all++
		g.places[w.place]++
		w.begin <- true
	}
}

// nextCallLocked returns the index of the call that begins next; -1 when none may. The caller holds the lock.
func (g *fairLimiter) nextCallLocked() int {
	best := -1
	for i, w := range g.waiting {
		if g.places[w.place] < g.each && (best < 0 || g.places[w.place] < g.places[g.waiting[best].place]) {
			best = i
		}
	}
	return best
}

// placeOf returns the host of a reference, or whatever stands in its place.
func placeOf(reference string) string {
	if _, rest, found := strings.Cut(reference, "://"); found {
		reference = rest
	}
	host, _, _ := strings.Cut(reference, " ")
	host, _, _ = strings.Cut(host, "/")
	return host
}
