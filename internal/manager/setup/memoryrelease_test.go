package setup

import (
	"runtime"
	"testing"
)

func TestMemoryIsGivenBackWhenWorkIsOver(t *testing.T) {
	const mib = 1 << 20
	var total uint64
	released := 0
	c := &memoryRelease{allocated: func() uint64 { return total }, release: func() { released++ }}
	for _, step := range []struct {
		name      string
		allocated uint64
		want      int
	}{
		{"nothing was ever allocated", 0, 0},
		{"work is under way", 500 * mib, 0},
		{"it continues", 40 * mib, 0},
		{"it is over", 5 * mib, 1},
		{"nothing has happened since then", 1 * mib, 1},
		{"a little has been allocated", 30 * mib, 1},
		{"a second wave", 400 * mib, 1},
		{"and its end", 0, 2},
		{"small allocations add up", 31 * mib, 2},
		{"they continue", 31 * mib, 2},
		{"and on", 31 * mib, 2},
		{"they continue once more", 31 * mib, 2},
		{"the sum is worth a release", 31 * mib, 3},
	} {
		total += step.allocated
		c.look()
		if released != step.want {
			t.Errorf("%s: memory was given back %d times, want %d", step.name, released, step.want)
		}
	}
}

func TestAllocatedBytesAreCounted(t *testing.T) {
	before := allocatedBytes()
	made := make([]byte, 8<<20)
	if after := allocatedBytes(); after-before < 8<<20 {
		t.Errorf("8 MiB were allocated and %d bytes are counted", after-before)
	}
	runtime.KeepAlive(made)
}
