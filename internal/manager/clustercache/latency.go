package clustercache

import (
	"sync/atomic"
	"time"
)

const (
	// soonestLate is the shortest latency that counts as late, however fast other runtimes are.
	soonestLate = 25 * time.Millisecond
	// lateness is the multiple of the usual latency from which a response counts as late.
	lateness = 4
	// memory is how many responses make up most of the average.
	memory = 32
)

// latencyTracker averages the latency of all runtimes together: under overload, when all are slow, none is late.
type latencyTracker struct{ mean atomic.Int64 }

// answered records one response. None counts for more than twice the usual time, so that a few slow runtimes do not set the average; more
// than half of them do. Two responses at the same moment may count as one.
func (t *latencyTracker) answered(took time.Duration) {
	mean := t.mean.Load()
	took = min(took, max(2*time.Duration(mean), soonestLate))
	t.mean.Store(mean + (int64(took)-mean)/memory)
}

// late returns the time after which a response is late.
func (t *latencyTracker) late() time.Duration {
	return max(lateness*time.Duration(t.mean.Load()), soonestLate)
}
