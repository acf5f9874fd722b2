package setup

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

const mib = 1 << 20

// testHeap counts what is done with it.
type testHeap struct {
	allocated, collections uint64
	released               int
	paused, full           bool
}

func (h *testHeap) Allocated() uint64   { return h.allocated }
func (h *testHeap) Collections() uint64 { return h.collections }
func (h *testHeap) Release()            { h.released++; h.collections++ }
func (h *testHeap) Pause() bool         { h.paused = !h.full; return h.paused }
func (h *testHeap) Resume()             { h.paused = false }

func TestIdleMemory_IsReleasedWhenWorkIsOver(t *testing.T) {
	heap := &testHeap{}
	m := &idleMemory{heap: heap}
	for _, step := range []struct {
		name      string
		allocated uint64
		released  int
		paused    bool
	}{
		{"nothing was ever allocated", 0, 0, true},
		{"work begins", 500 * mib, 0, false},
		{"it continues", 40 * mib, 0, false},
		{"it is over", 5 * mib, 1, true},
		{"nothing has happened since then", 1 * mib, 1, true},
		{"a little has been allocated", 15 * mib, 1, true},
		{"a second wave", 400 * mib, 1, false},
		{"and its end", 0, 2, true},
		{"a small wave", 31 * mib, 2, false},
		{"small allocations add up", 31 * mib, 2, true},
		{"they continue", 31 * mib, 2, false},
		{"and on", 31 * mib, 2, true},
		{"they continue once more", 31 * mib, 2, false},
		{"the sum is worth a release", 31 * mib, 3, true},
	} {
		heap.allocated += step.allocated
		m.look()
		if heap.released != step.released || heap.paused != step.paused {
			t.Errorf("%s: released %d times and paused is %v, want %d and %v",
				step.name, heap.released, heap.paused, step.released, step.paused)
		}
	}
}

// Whatever the heap does, the collector is never paused for long after work has begun or room has run out, and it is looked at often
// enough to notice.
func TestIdleMemory_NeverPausesWork(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		heap := &testHeap{}
		m := &idleMemory{heap: heap}
		for range 300 {
			grown, collected := uint64(random.IntN(64*mib)), random.IntN(4) == 0
			if random.IntN(2) == 0 {
				grown = uint64(random.IntN(mib))
			}
			heap.full = random.IntN(8) == 0
			wasPaused := heap.paused
			heap.allocated += grown
			if collected {
				heap.collections++
			}
			next := m.look()
			switch {
			case heap.paused != m.paused:
				t.Fatalf("seed %d: paused is %v, and it is taken for %v", seed, heap.paused, m.paused)
			case heap.paused && next != restLook:
				t.Fatalf("seed %d: the next look at a paused heap is in %s", seed, next)
			case wasPaused && heap.paused && (grown >= restBytes || collected):
				t.Fatalf("seed %d: still paused after %d bytes, collected: %v", seed, grown, collected)
			case !wasPaused && heap.paused && grown >= workBytes:
				t.Fatalf("seed %d: paused while %d bytes were allocated", seed, grown)
			}
		}
		m.resume()
		if heap.paused {
			t.Fatalf("seed %d: paused after the end", seed)
		}
	}
}

func TestGoHeap_PausesAndResumes(t *testing.T) {
	percent := debug.SetGCPercent(50)
	limit := debug.SetMemoryLimit(math.MaxInt64)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
	heap := &goHeap{}
	if !heap.Pause() {
		t.Fatal("not paused, though there is no limit")
	}
	if (&goHeap{}).Pause() {
		t.Error("paused twice: the second pause would end in the state of the first one")
	}
	collections := heap.Collections()
	kept := make([][]byte, 0, 8)
	for range 8 {
		kept = append(kept, make([]byte, mib)) // half of the room that there is
	}
	if n := heap.Collections() - collections; n != 0 {
		t.Errorf("collected %d times with room left", n)
	}
	for deadline := time.Now().Add(time.Minute); heap.Collections() == collections && time.Now().Before(deadline); {
		kept[0] = make([]byte, mib)
	}
	if heap.Collections() == collections {
		t.Error("never collected, though there is no room left")
	}
	heap.Resume()
	if got := debug.SetGCPercent(50); got != 50 {
		t.Errorf("GOGC is %d afterwards, want 50", got)
	}
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("the memory limit is %d afterwards, want none", got)
	}
	debug.SetMemoryLimit(mib)
	if heap.Pause() {
		t.Error("paused, though the memory limit leaves no room")
	}
	runtime.KeepAlive(kept)
}

func TestGoHeap_CountsAllocations(t *testing.T) {
	heap := &goHeap{}
	before := heap.Allocated()
	made := make([]byte, 8*mib)
	if after := heap.Allocated(); after-before < 8*mib {
		t.Errorf("8 MiB were allocated and %d bytes are counted", after-before)
	}
	runtime.KeepAlive(made)
}
