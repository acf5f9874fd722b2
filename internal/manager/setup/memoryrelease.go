package setup

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// calmLook is the interval of the checks whether the manager has become idle.
	calmLook = 30 * time.Second
	// calmBusy is the number of bytes that a busy manager allocates between two checks.
	calmBusy = 32 << 20
	// calmWorth is the number of bytes that must be allocated since the last release for another one to be worth it.
	calmWorth = 128 << 20
)

// memoryRelease returns memory to the operating system when work has ended. The garbage collector lets the heap grow to twice the live
// size, and keeps the peak for minutes; a fleet at rest needs neither, but other pods on the node do. The cost is one collection after each
// wave of work.
type memoryRelease struct {
	allocated func() uint64
	release   func()

	seen, released uint64
}

func newCalm() *memoryRelease {
	return &memoryRelease{allocated: allocatedBytes, release: debug.FreeOSMemory}
}

// Start checks at intervals until the context ends.
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

// NeedLeaderElection returns false: a waiting replica uses memory too.
func (c *memoryRelease) NeedLeaderElection() bool { return false }

// look releases memory:
//
//  1. never while work is in progress, which would allocate the memory again
//  2. not for a small amount
//  3. otherwise now, and then not before there is more work
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

// allocatedBytes returns the total number of bytes allocated on the heap since the start.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
