package setup

import (
	"runtime/debug"
	"runtime/metrics"
)

// pausedGrowth is the least number of bytes by which the heap may grow while the collector is paused; an eighth of a larger one.
const pausedGrowth = 16 << 20

// goHeap is the heap of this program.
type goHeap struct {
	percent int
	limit   int64
}

func (*goHeap) Allocated() uint64   { return runtimeMetric("/gc/heap/allocs:bytes") }
func (*goHeap) Collections() uint64 { return runtimeMetric("/gc/cycles/total:gc-cycles") }
func (*goHeap) Release()            { debug.FreeOSMemory() }

// Pause replaces GOGC by a memory limit near to what is used: the collector runs when that is reached, and at no other time. Where GOGC is
// off already, by the environment or by another manager in this process, it is left alone.
func (h *goHeap) Pause() bool {
	h.limit = debug.SetMemoryLimit(-1)
	used := runtimeMetric("/memory/classes/total:bytes") - runtimeMetric("/memory/classes/heap/released:bytes")
	limit := int64(used + max(used/8, pausedGrowth))
	if limit >= h.limit {
		return false
	}
	if h.percent = debug.SetGCPercent(-1); h.percent < 0 {
		return false
	}
	debug.SetMemoryLimit(limit)
	return true
}

// Resume restores what GOGC and GOMEMLIMIT say.
func (h *goHeap) Resume() {
	debug.SetGCPercent(h.percent)
	debug.SetMemoryLimit(h.limit)
}

// runtimeMetric returns one of the counters of runtime/metrics.
func runtimeMetric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
