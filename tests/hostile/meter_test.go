package hostile

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// most is how much an attack may cost in memory.
const most = 64 << 20

// breath is held by the meter while attackers must not say anything; they take it for reading with everything that they say.
var breath sync.RWMutex

// meter samples what is alive on the heap, right after a collection. A collection counts as alive all that is allocated while it runs: on a
// busy machine it runs long, and an attack that has the manager allocate much then seems to fill the memory with what is garbage at once.
// Therefore that is taken off while the attack continues (what lives on is in the next sample), and in the end the attack holds its breath
// for a sample of what it has left in memory. The servers of the tests are in this process too, and count.
type meter struct {
	mu    sync.Mutex
	peak  uint64
	taken int // samples since begin
	stop  context.CancelFunc
	done  chan struct{}
}

// startMeter samples until stop, ten times a second at most.
func startMeter() *meter {
	ctx, cancel := context.WithCancel(context.Background())
	m := &meter{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				m.sample()
			}
		}
	}()
	return m
}

// collect collects garbage and tells what is left, and how much was allocated meanwhile.
func collect() (live, meanwhile uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	before := samples[0].Value.Uint64()
	runtime.GC()
	metrics.Read(samples)
	return samples[1].Value.Uint64(), samples[0].Value.Uint64() - before
}

// quiet returns what is alive while no attacker says anything. What is said already is read during the first collection.
func quiet() uint64 {
	breath.Lock()
	defer breath.Unlock()
	collect()
	live, _ := collect()
	return live
}

// sample takes note of what is alive while the attack continues.
func (m *meter) sample() {
	live, meanwhile := collect()
	live -= min(live, meanwhile)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = max(m.peak, live)
	m.taken++
}

// begin forgets the peak and returns what is alive now.
func (m *meter) begin() uint64 {
	live := quiet()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak, m.taken = live, 0
	return live
}

// samples returns how many were taken since begin.
func (m *meter) samples() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken
}

// highest returns the peak since begin.
func (m *meter) highest() uint64 {
	left := quiet()
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(m.peak, left)
}

func (m *meter) end() {
	m.stop()
	<-m.done
}
