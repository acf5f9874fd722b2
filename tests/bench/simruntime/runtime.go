package simruntime

import (
	"crypto/tls"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// firstVersion is where resourceVersions begin.
const firstVersion = 1000

// Runtime is one virtual cluster.
type Runtime struct {
	fleet   *Runtimes
	index   int
	counter counter
	net     network

	secretMu sync.Mutex
	cert     *tls.Certificate
	token    string

	knobs  atomic.Pointer[Knobs]
	asked  atomic.Int64  // calls, for RejectNth
	scream chan struct{} // closed when the fleet is

	mu      sync.Mutex
	version uint64
	tables  map[schema.GroupResource]*table // nil until a user asks
	cutting chan struct{}                   // closed to end the streams of now
	ready   time.Duration                   // until workloads run; negative for never
	broken  map[string]bool                 // images whose workloads never run
	timers  map[*time.Timer]struct{}
}

func newRuntime(f *Runtimes, i int) *Runtime {
	r := &Runtime{fleet: f, index: i, token: newToken(i), version: firstVersion, scream: make(chan struct{}), cutting: make(chan struct{})}
	r.knobs.Store(&Knobs{})
	return r
}

// Name is "runtime-0007", and the same at every start.
func (r *Runtime) Name() string { return fmt.Sprintf("runtime-%04d", r.index) }

// Counts returns those of this runtime alone.
func (r *Runtime) Counts() Counts { return r.counter.snapshot() }

// Reset begins its counts again, but for those of what is open.
func (r *Runtime) Reset() { r.counter.reset() }

// Dials returns the connections that were accepted since the start or the last Reset.
func (r *Runtime) Dials() int { return int(r.counter.dials.Load()) }

// lock returns the runtime to one caller, and makes it what a new cluster is if it was nothing before.
func (r *Runtime) lock() (unlock func()) {
	r.mu.Lock()
	if r.tables == nil {
		r.tables = make(map[schema.GroupResource]*table)
		r.beginLocked()
	}
	return r.mu.Unlock
}

// Compact forgets the past: who watches on from an earlier resourceVersion, or continues an earlier list, is told 410. Streams that are
// open continue.
func (r *Runtime) Compact() {
	defer r.lock()()
	for _, t := range r.tables {
		t.compacted = r.version
	}
}

// CutWatches ends all streams in order, as an API server does when their time has ended.
func (r *Runtime) CutWatches() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.cutting)
	r.cutting = make(chan struct{})
}

// CutConnections resets all connections without a word.
func (r *Runtime) CutConnections() { r.cut() }

// ReadyAfter says how long workloads take until they run; with a negative time they never do. At first they take no time.
func (r *Runtime) ReadyAfter(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = d
}

// NeverRun makes workloads of an image never run, whenever they are applied. Others are as ReadyAfter says.
func (r *Runtime) NeverRun(image string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		r.broken = make(map[string]bool)
	}
	r.broken[image] = true
}

// stop ends what continues by itself.
func (r *Runtime) stop() {
	close(r.scream)
	_ = r.fall(Refuse)
	r.mu.Lock()
	defer r.mu.Unlock()
	for timer := range r.timers {
		timer.Stop()
	}
}
