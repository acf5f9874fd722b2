package hostile

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// most is how much memory an attack may cost.
const most = 64 << 20

// breath is held for writing by the meter while attackers must not send anything; they hold it for reading whenever they send.
var breath sync.RWMutex

// meter samples the live heap, right after a collection. A collection counts everything that is allocated while it runs as live: on a busy
// machine it runs long, and an attack that makes the manager allocate much then seems to fill the memory with short-lived garbage.
// Therefore those allocations are subtracted while the attack continues (the next sample contains the ones that live on), and at the end
// the attack pauses for a sample of what it has left in memory. The servers of the tests are in this process too, and count.
type meter struct {
	mu    sync.Mutex
	peak  uint64
	taken int // samples since begin
	stop  context.CancelFunc
	done  chan struct{}
}

// startMeter samples until stop, at most ten times a second.
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

// collect runs a garbage collection and returns the live bytes, and how much was allocated meanwhile.
func collect() (live, meanwhile uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	before := samples[0].Value.Uint64()
	runtime.GC()
	metrics.Read(samples)
	return samples[1].Value.Uint64(), samples[0].Value.Uint64() - before
}

// quiet returns the live bytes while no attacker sends anything. Data that was sent before is read during the first collection.
func quiet() uint64 {
	breath.Lock()
	defer breath.Unlock()
	collect()
	live, _ := collect()
	return live
}

// sample records the live bytes while the attack continues.
func (m *meter) sample() {
	live, meanwhile := collect()
	live -= min(live, meanwhile)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = max(m.peak, live)
	m.taken++
}

// begin resets the peak and returns the present live bytes.
func (m *meter) begin() uint64 {
	live := quiet()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak, m.taken = live, 0
	return live
}

// samples returns the number of samples since begin.
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
