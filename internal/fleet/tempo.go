package fleet

import (
	"sync/atomic"
	"time"
)

const (
	// soonestLate is how long an answer may take at least before it counts as late, however fast others are.
	soonestLate = 25 * time.Millisecond
	// lateness is how many times the usual time an answer takes that counts as late.
	lateness = 4
	// memory is how many answers make up most of what is usual.
	memory = 32
)

// tempo is how fast the runtimes of a fleet answer, all together: in overload, when everybody is slow, nobody is late.
type tempo struct{ mean atomic.Int64 }

// answered takes note of one answer. None counts for more than twice the usual time, so that a few slow runtimes are not usual; more
// than half of them are. Two answers at the same moment may count as one.
func (t *tempo) answered(took time.Duration) {
	mean := t.mean.Load()
	took = min(took, max(2*time.Duration(mean), soonestLate))
	t.mean.Store(mean + (int64(took)-mean)/memory)
}

// late is the time after which an answer is late.
func (t *tempo) late() time.Duration {
	return max(lateness*time.Duration(t.mean.Load()), soonestLate)
}
