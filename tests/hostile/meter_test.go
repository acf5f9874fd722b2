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

// meter samples what is alive on the heap, right after a collection, so that garbage does not count. The servers of the tests are in this
// process too, so what it tells is never too little.
type meter struct {
	mu   sync.Mutex
	peak uint64
	stop context.CancelFunc
	done chan struct{}
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

// sample collects garbage and takes note of what is left, and returns it.
func (m *meter) sample() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	live := sample[0].Value.Uint64()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = max(m.peak, live)
	return live
}

// begin forgets the peak and returns what is alive now.
func (m *meter) begin() uint64 {
	live := m.sample()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = live
	return live
}

// highest is the peak since begin.
func (m *meter) highest() uint64 {
	m.sample()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peak
}

func (m *meter) end() {
	m.stop()
	<-m.done
}
