package modulecontent

import (
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// callsAtOnce bounds all calls in progress, whether or not a caller waits for them; callsOfPlace those to one host. A host that does not
	// answer blocks its own calls for minutes, but only a part of all.
	callsAtOnce, callsOfPlace = 32, 8
	// lapse is the time for which a call that has not begun stays wanted after it was last asked for. A caller that still needs the answer
	// asks again before that: longestPause is the longest pause between two attempts.
	lapse = 2*longestPause + 30*time.Second
)

// fairLimiter bounds the number of calls in progress. The others wait. The next one is of the place with the fewest calls in progress, so
// that many calls to a slow host do not delay the few to another; among those it is the one that has waited longest.
type fairLimiter struct {
	most, each int

	mu      sync.Mutex
	all     int
	places  map[string]int // calls in progress, by place
	waiting []*waiter      // in the order of arrival
}

// waiter is a call that has not begun.
type waiter struct {
	place string
	// wanted reports whether the call must still be made. It is not called again after it has returned false.
	wanted func() bool
	// begin receives true when the call may begin, and false when it is no longer wanted.
	begin chan bool
}

func newGate(most, each int) *fairLimiter {
	return &fairLimiter{most: most, each: each, places: map[string]int{}}
}

// enter waits until a call to a place may begin. It returns false when the call is no longer wanted; after true, the caller must call
// leave.
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

// startCallsLocked starts as many calls as the limits permit. The caller holds the lock.
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

// nextCallLocked returns the index of the next call; -1 when none may begin. The caller holds the lock.
func (g *fairLimiter) nextCallLocked() int {
	best := -1
	for i, w := range g.waiting {
		if g.places[w.place] < g.each && (best < 0 || g.places[w.place] < g.places[g.waiting[best].place]) {
			best = i
		}
	}
	return best
}

// placeOf returns the host of a reference, or the part in its position.
func placeOf(reference string) string {
	if _, rest, found := strings.Cut(reference, "://"); found {
		reference = rest
	}
	host, _, _ := strings.Cut(reference, " ")
	host, _, _ = strings.Cut(host, "/")
	return host
}
