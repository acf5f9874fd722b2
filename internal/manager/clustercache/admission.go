package clustercache

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// admissionsPerCPU is the number of concurrent first contacts and lists per processor, over all runtimes. When the manager starts, every
	// runtime needs a dozen of them: without the bound, one changed Kyma among thousands would wait for processor time behind all of
	// these. One takes some 2 ms of a processor, so sixteen keep it busy where runtimes answer within 30 ms.
	admissionsPerCPU = 16
	// maxAdmission is the longest time that a first contact or a list counts. One that takes longer waits for its runtime and uses no
	// processor.
	maxAdmission = time.Second
)

// prioritySemaphore bounds the most expensive operations on runtimes. Urgent connections go first.
type prioritySemaphore struct {
	free    int
	patient time.Duration

	mu      sync.Mutex
	waiting []*waiter // those in a hurry before the others
	hurried int       // how many of them are in a hurry
}

// waiter is a request that waits for admission.
type waiter struct {
	of     *connection
	called chan struct{} // closed when it is its turn
}

// admissionLimit returns the bound for all runtimes together.
func admissionLimit() int { return admissionsPerCPU * runtime.GOMAXPROCS(0) }

func newPrioritySemaphore(room int) *prioritySemaphore {
	return &prioritySemaphore{free: room, patient: maxAdmission}
}

// enter waits for admission, which ends with leave, or by itself after a while.
func (e *prioritySemaphore) enter(ctx context.Context, c *connection) (leave func(), err error) {
	if e == nil {
		return func() {}, nil
	}
	e.mu.Lock()
	if e.free > 0 {
		e.free--
		e.mu.Unlock()
		return e.until(), nil
	}
	g := &waiter{of: c, called: make(chan struct{})}
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
		if !e.removeWaiter(g) { // it was called at that moment
			e.leave()
		}
		return nil, context.Cause(ctx)
	}
}

// until returns a function that ends an admission, once.
func (e *prioritySemaphore) until() (leave func()) {
	end := sync.OnceFunc(e.leave)
	timer := time.AfterFunc(e.patient, end)
	return func() {
		timer.Stop()
		end()
	}
}

// leave passes an admission on.
func (e *prioritySemaphore) leave() {
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

// removeWaiter removes a waiter that was still waiting, and reports whether it was.
func (e *prioritySemaphore) removeWaiter(g *waiter) bool {
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

// prioritize moves a runtime's waiters ahead of all that are not urgent.
func (e *prioritySemaphore) prioritize(c *connection) {
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
