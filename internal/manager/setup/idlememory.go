package setup

import (
	"context"
	"time"
)

const (
	// workLook is the interval of the checks whether work has ended, restLook of those whether it has begun.
	workLook, restLook = 30 * time.Second, 2 * time.Second
	// workBytes is what a busy manager allocates between two checks for the end of work, restBytes between two at rest.
	workBytes, restBytes = 32 << 20, 16 << 20
	// worthBytes must be allocated since the last release for another one to be worth it.
	worthBytes = 128 << 20
)

// idleMemory has a manager without work take less of its node.
//
// It returns memory to the operating system when work has ended. The garbage collector lets the heap grow to more than the live size, and
// keeps the peak for minutes; a fleet at rest needs neither, but other pods on the node do. The cost is one collection after each wave of
// work.
//
// Then it pauses the collector. Go collects every two minutes however little was allocated, and marks all that lives for it, which was most
// of what a fleet at rest took of a processor. While it is paused, the heap may grow a little before it is collected.
type idleMemory struct {
	heap heap

	allocated, released uint64
	paused              bool
	collections         uint64 // when it was paused
}

// heap is the Go runtime's.
type heap interface {
	// Allocated returns the number of bytes that were allocated since the start, Collections how often was collected.
	Allocated() uint64
	Collections() uint64
	// Release collects, and returns memory to the operating system.
	Release()
	// Pause has the heap grow a little before it is collected. It reports false, and does nothing, where the memory limit leaves no room for
	// that, or collections are off already.
	Pause() bool
	Resume()
}

// Start checks at intervals until the context ends.
func (m *idleMemory) Start(ctx context.Context) error {
	timer := time.NewTimer(workLook)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			m.resume()
			return nil
		case <-timer.C:
			timer.Reset(m.look())
		}
	}
}

// NeedLeaderElection returns false: a waiting replica uses memory too.
func (m *idleMemory) NeedLeaderElection() bool { return false }

// look returns when to look again.
//
//  1. Nothing is released or paused while work is in progress, which would allocate the memory again.
//  2. Little is not released.
//  3. The pause ends when work begins, or when the collector ran because little room was left.
func (m *idleMemory) look() time.Duration {
	allocated := m.heap.Allocated()
	since := allocated - m.allocated
	m.allocated = allocated
	switch {
	case m.paused && since < restBytes && m.heap.Collections() == m.collections:
		return restLook
	case m.paused:
		m.resume()
		return workLook
	case since >= workBytes:
		return workLook
	}
	if allocated-m.released >= worthBytes {
		m.heap.Release()
		m.released = allocated
	}
	if m.paused = m.heap.Pause(); !m.paused {
		return workLook
	}
	m.collections = m.heap.Collections()
	return restLook
}

func (m *idleMemory) resume() {
	if m.paused {
		m.heap.Resume()
		m.paused = false
	}
}
