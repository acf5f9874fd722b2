package simruntime

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Options say what to simulate.
type Options struct {
	// Runtimes is how many there are.
	Runtimes int
	// Schema is the OpenAPI document (v2 or v3) of a real API server, for server-side apply. Without it the types that client-go knows count,
	// and those of definitions; for what is left, types are deduced from the objects.
	Schema []byte
	// Bookmarks is the time between two bookmarks of a watch; a minute when zero, as in API servers.
	Bookmarks time.Duration
	// Shared lets all runtimes share one listener, as more than 6,000 of them do in any case. It needs Linux, and a runtime that refuses
	// accepts and resets.
	Shared bool
	// Logf hears of what should not happen; may be nil.
	Logf func(format string, args ...any)
}

// most is how many addresses there are for runtimes.
const most = 60_000

// Runtimes is a server of virtual runtimes.
type Runtimes struct {
	options  Options
	runtimes []*Runtime
	types    *typing
	own      map[schema.GroupResource]*kind
	defined  definitions
	door     *door
	shared   net.Listener // of all runtimes; nil where each has its own
	server   *http.Server
	served   chan struct{}
	closing  sync.Once
	unhook   func() bool
}

// Start serves until Close, or until the context ends.
func Start(ctx context.Context, options Options) (*Runtimes, error) {
	if options.Runtimes < 1 || options.Runtimes > most {
		return nil, fmt.Errorf("%d runtimes cannot be simulated; 1 to %d can", options.Runtimes, most)
	}
	if options.Bookmarks <= 0 {
		options.Bookmarks = time.Minute
	}
	if options.Logf == nil {
		options.Logf = func(string, ...any) {}
	}
	known, err := newTypes(options.Schema)
	if err != nil {
		return nil, err
	}
	f := &Runtimes{options: options, types: known, own: ownKinds(known), door: newDoor(), served: make(chan struct{})}
	f.defined.types = known
	for i := range options.Runtimes {
		f.runtimes = append(f.runtimes, newRuntime(f, i))
	}
	if err := f.listen(); err != nil {
		f.stopListening()
		return nil, err
	}
	f.serve()
	f.unhook = context.AfterFunc(ctx, f.Close)
	return f, nil
}

// listen opens the doors of all runtimes.
func (f *Runtimes) listen() error {
	if f.options.Shared || len(f.runtimes) > mostListeners {
		return f.listenTogether()
	}
	for i, r := range f.runtimes {
		if err := r.listen(); err != nil {
			return fmt.Errorf("runtime %d of %d cannot listen: %w", i, len(f.runtimes), err)
		}
	}
	return nil
}

// Len returns the number of runtimes.
func (f *Runtimes) Len() int { return len(f.runtimes) }

// Runtime returns one of them, from 0 to Len()-1.
func (f *Runtimes) Runtime(i int) *Runtime { return f.runtimes[i] }

// All returns the runtimes in their order.
func (f *Runtimes) All() []*Runtime { return slices.Clone(f.runtimes) }

// Close ends all connections, and returns when no one is served any more.
func (f *Runtimes) Close() {
	f.closing.Do(func() {
		f.stopListening()
		for _, r := range f.runtimes {
			r.stop()
		}
		_ = f.server.Close()
		<-f.served
	})
	if f.unhook != nil {
		f.unhook()
	}
}

func (f *Runtimes) stopListening() {
	f.door.close()
	if f.shared != nil {
		_ = f.shared.Close()
	}
	for _, r := range f.runtimes {
		r.unlisten()
	}
}

// Counts adds up what all runtimes have counted since the start or the last Reset.
func (f *Runtimes) Counts() Counts {
	sum := newCounts()
	for _, r := range f.runtimes {
		one := r.Counts()
		sum.add(&one)
	}
	return sum
}

// Reset begins all counts again, but for those of what is open.
func (f *Runtimes) Reset() {
	for _, r := range f.runtimes {
		r.Reset()
	}
}

func (c *Counts) add(other *Counts) {
	for call, n := range other.Calls {
		c.Calls[call] += n
	}
	for code, n := range other.Answers {
		c.Answers[code] += n
	}
	c.BytesIn += other.BytesIn
	c.BytesOut += other.BytesOut
	c.Dials += other.Dials
	c.Connections += other.Connections
	c.Watches += other.Watches
	c.Events += other.Events
	c.Revisions += other.Revisions
}

func (c *Counts) clone() Counts {
	copied := *c
	copied.Calls, copied.Answers = maps.Clone(c.Calls), maps.Clone(c.Answers)
	return copied
}
