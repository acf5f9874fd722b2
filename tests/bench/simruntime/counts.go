package simruntime

import (
	"sync"
	"sync/atomic"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// Counts are what runtimes were requested and what it came to.
type Counts struct {
	// Calls says how often each verb was used on each resource by each user agent.
	Calls calls.Counts
	// Answers says how often each HTTP status was given.
	Answers map[int]int
	// BytesIn and BytesOut went over the wire, TLS included.
	BytesIn, BytesOut int64
	// Dials are the connections that were accepted, be it to say nothing; Connections those open now.
	Dials, Connections int
	// Watches are the streams open now; Events what they were told, bookmarks included.
	Watches, Events int
	// Revisions are the writes of all clients that changed something: what an etcd would have counted.
	Revisions int
}

func newCounts() Counts { return Counts{Calls: calls.Counts{}, Answers: map[int]int{}} }

// counter is what one runtime counts.
type counter struct {
	mu    sync.Mutex
	calls Counts // Calls and Answers alone

	in, out, dials, events, revisions atomic.Int64
	connections, watches              atomic.Int64 // open now
}

func (c *counter) call(call calls.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls.Calls == nil {
		c.calls = newCounts()
	}
	c.calls.Calls[call]++
}

func (c *counter) answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls.Answers == nil {
		c.calls = newCounts()
	}
	c.calls.Answers[status]++
}

// snapshot returns everything at once.
func (c *counter) snapshot() Counts {
	c.mu.Lock()
	told := c.calls.clone()
	c.mu.Unlock()
	if told.Calls == nil {
		told = newCounts()
	}
	told.BytesIn, told.BytesOut = c.in.Load(), c.out.Load()
	told.Dials, told.Connections = int(c.dials.Load()), int(c.connections.Load())
	told.Watches, told.Events = int(c.watches.Load()), int(c.events.Load())
	told.Revisions = int(c.revisions.Load())
	return told
}

func (c *counter) reset() {
	c.mu.Lock()
	c.calls = Counts{}
	c.mu.Unlock()
	for _, n := range []*atomic.Int64{&c.in, &c.out, &c.dials, &c.events, &c.revisions} {
		n.Store(0)
	}
}
