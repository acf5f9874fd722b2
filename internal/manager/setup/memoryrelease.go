package setup

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// calmLook is how often it is looked whether the manager has fallen silent.
	calmLook = 30 * time.Second
	// calmBusy is how much is allocated within one look by a manager that still works.
	calmBusy = 32 << 20
	// calmWorth is how much must be allocated since memory was given back until that is worth doing again.
	calmWorth = 128 << 20
)

// memoryRelease gives memory back to the machine when work has ended. The collector lets the heap grow to twice of what is live, and keeps
// what it had at the peak for minutes; a fleet at rest needs neither, and its neighbours on the node do. It costs one collection after each
// wave.
type memoryRelease struct {
	allocated func() uint64
	release   func()

	seen, released uint64
}

func newCalm() *memoryRelease {
	return &memoryRelease{allocated: allocatedBytes, release: debug.FreeOSMemory}
}

// Start looks until the context ends.
func (c *memoryRelease) Start(ctx context.Context) error {
	ticker := time.NewTicker(calmLook)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			c.look()
		}
	}
}

// NeedLeaderElection says no: a replica that waits has memory too.
func (c *memoryRelease) NeedLeaderElection() bool { return false }

// look gives memory back:
//
//  1. never while work is under way, which would take the memory again
//  2. not for little
//  3. else now, and then not before there is more work
func (c *memoryRelease) look() {
	now := c.allocated()
	since := now - c.seen
	c.seen = now
	if since >= calmBusy || now-c.released < calmWorth {
		return
	}
	c.release()
	c.released = now
}

// allocatedBytes returns those that were ever allocated on the heap.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
