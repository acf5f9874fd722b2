package fleet

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// guests is how many first contacts and lists there are at a time for each processor, in all runtimes together. When the manager
	// starts, every runtime wants a dozen of them: a changed Kyma among thousands would wait for processor time behind all of these. One
	// takes some 2 ms of a processor, so sixteen keep it busy where runtimes answer within 30 ms.
	guests = 16
	// stay is the longest that a first contact or a list counts. What takes longer waits for a runtime, and costs nobody anything.
	stay = time.Second
)

// entrance bounds what costs most of all that is done to runtimes. Who is in a hurry goes first.
type entrance struct {
	free    int
	patient time.Duration

	mu      sync.Mutex
	waiting []*guest // those in a hurry before the others
	hurried int      // how many of them are in a hurry
}

// guest waits for its turn.
type guest struct {
	of     *connection
	called chan struct{} // closed when it is its turn
}

// room is that of a whole fleet.
func room() int { return guests * runtime.GOMAXPROCS(0) }

func newEntrance(room int) *entrance { return &entrance{free: room, patient: stay} }

// enter waits for a turn, which ends with leave, and by itself after a while.
func (e *entrance) enter(ctx context.Context, c *connection) (leave func(), err error) {
	if e == nil {
		return func() {}, nil
	}
	e.mu.Lock()
	if e.free > 0 {
		e.free--
		e.mu.Unlock()
		return e.until(), nil
	}
	g := &guest{of: c, called: make(chan struct{})}
	if c.hurry.Load() {
		e.waiting = slices.Insert(e.waiting, e.hurried, g)
		e.hurried++
	} else {
		e.waiting = append(e.waiting, g)
	}
	e.mu.Unlock()
	select {
	case <-g.called:
		return e.until(), nil
	case <-ctx.Done():
		if !e.left(g) { // it was called at that moment
			e.leave()
		}
		return nil, context.Cause(ctx)
	}
}

// until ends a turn, once.
func (e *entrance) until() (leave func()) {
	end := sync.OnceFunc(e.leave)
	timer := time.AfterFunc(e.patient, end)
	return func() {
		timer.Stop()
		end()
	}
}

// leave passes a turn on.
func (e *entrance) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		e.free++
		return
	}
	close(e.waiting[0].called)
	e.waiting[0] = nil
	e.waiting = e.waiting[1:]
	e.hurried = max(e.hurried-1, 0)
}

// left says whether a guest was still waiting, and waits no longer.
func (e *entrance) left(g *guest) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.Index(e.waiting, g)
	if at < 0 {
		return false
	}
	e.waiting = slices.Delete(e.waiting, at, at+1)
	if at < e.hurried {
		e.hurried--
	}
	return true
}

// hasten has a runtime's guests go before all that are in no hurry.
func (e *entrance) hasten(c *connection) {
	if e == nil || c.hurry.Swap(true) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := e.hurried; i < len(e.waiting); i++ {
		if g := e.waiting[i]; g.of == c {
			e.waiting = slices.Insert(slices.Delete(e.waiting, i, i+1), e.hurried, g)
			e.hurried++
		}
	}
}
