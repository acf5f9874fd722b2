package meter

import (
	"slices"
	"sync"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
)

// Latencies keeps the times of operations that may run at once. The zero value is empty and ready.
type Latencies struct {
	mu    sync.Mutex
	times []time.Duration
}

// Add keeps one time.
func (l *Latencies) Add(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, took)
}

// All returns the times in the order in which they came.
func (l *Latencies) All() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.times)
}

// Count returns how many there are.
func (l *Latencies) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.times)
}

// Quantile returns the time that a share q of the operations did not exceed, zero without any.
func (l *Latencies) Quantile(q float64) time.Duration { return fit.Quantile(l.All(), q) }

// Summary sums the times up.
func (l *Latencies) Summary() Summary {
	times := l.All()
	q := fit.Quantiles(times, 0, 0.5, 0.9, 0.99, 1)
	return Summary{Count: len(times), Min: q[0], P50: q[1], P90: q[2], P99: q[3], Max: q[4]}
}

// Summary is what is told of many times.
type Summary struct {
	Count                   int
	Min, P50, P90, P99, Max time.Duration
}

// Milliseconds returns a time as figures tell it.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
