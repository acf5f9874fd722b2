package clustercache

import (
	"testing"
	"time"
)

func TestLatencyTracker_LateDependsOnMean(t *testing.T) {
	const fast, slow = 10 * time.Millisecond, 2 * time.Second
	cases := []struct {
		name     string
		answers  func(i int) time.Duration
		from, to time.Duration
	}{
		{"nothing was answered yet", nil, soonestLate, soonestLate},
		{"answers in no time do not make every other one late", func(int) time.Duration { return time.Millisecond }, soonestLate, soonestLate},
		{"four times the usual time is late", func(int) time.Duration { return fast }, 38 * time.Millisecond, 4 * fast},
		{"one slow runtime in twenty changes little", every(20, slow, fast), 4 * fast, 50 * time.Millisecond},
		{"nor do three in ten change much", func(i int) time.Duration {
			if i%10 < 3 {
				return slow
			}
			return fast
		}, 4 * fast, 90 * time.Millisecond},
		{"when everyone is slow no one is late", func(int) time.Duration { return slow }, 3 * slow, 4 * slow},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var is latencyTracker
			for i := range 1000 {
				if c.answers != nil {
					is.answered(c.answers(i))
				}
			}
			if got := is.late(); got < c.from || got > c.to {
				t.Errorf("late after %s, want %s to %s", got, c.from, c.to)
			}
		})
	}
}

// every n-th response takes that long.
func every(n int, that, others time.Duration) func(i int) time.Duration {
	return func(i int) time.Duration {
		if i%n == 0 {
			return that
		}
		return others
	}
}

func TestLatencyTracker_AdaptsToOverload(t *testing.T) {
	var is latencyTracker
	step := func(took time.Duration) (answers int) {
		for answers = 0; answers < 10_000 && (is.late() < took) == (took > 100*time.Millisecond); answers++ {
			is.answered(took)
		}
		return answers
	}
	for range 100 {
		is.answered(5 * time.Millisecond)
	}
	if n := step(500 * time.Millisecond); n > 200 {
		t.Errorf("%d answers until what is slow everywhere is no longer late", n)
	}
	for range 100 {
		is.answered(500 * time.Millisecond)
	}
	for n := 0; is.late() > 100*time.Millisecond; n++ {
		if is.answered(5 * time.Millisecond); n > 200 {
			t.Fatalf("still late only after %s", is.late())
		}
	}
}
