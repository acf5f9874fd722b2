package sharding

import (
	"testing"
	"time"
)

// A bucket comes, goes and comes again while its view is still being made fresh for the first time: what was fresh then says nothing of
// what others have changed meanwhile.
func TestArrived_IgnoresAnEarlierVisit(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	const bucket = 7
	for name, between := range map[string]func(tenure *bucketOwnership){
		"it went to another replica": func(tenure *bucketOwnership) {
			tenure.extend(now.Add(time.Minute), func(int) (bool, bool) { return false, false }, nil)
		},
		"the time was up": func(tenure *bucketOwnership) {
			tenure.extend(now, func(at int) (bool, bool) { return at == bucket, false }, nil)
		},
		"it was to go": func(tenure *bucketOwnership) {
			tenure.extend(now.Add(time.Minute), func(at int) (bool, bool) { return at == bucket, at == bucket }, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tenure := &bucketOwnership{now: func() time.Time { return now }}
			come := func() []visit {
				return tenure.extend(now.Add(time.Minute), func(at int) (bool, bool) { return at == bucket, false }, func(int) bool { return false })
			}
			first := come()
			between(tenure)
			second := come()
			if len(first) != 1 || len(second) != 1 {
				t.Fatalf("%v and %v are to be made fresh, want the bucket each time", first, second)
			}
			tenure.arrived(first, true)
			if stage := tenure.stages[bucket]; stage != coming {
				t.Errorf("stage %v after the first view, which is too old", stage)
			}
			tenure.arrived(first, false) // nor does its failure count
			tenure.arrived(second, true)
			if stage := tenure.stages[bucket]; stage != working {
				t.Errorf("stage %v after the second view", stage)
			}
		})
	}
}

func TestSince_IsAnotherTimeAfterEachBreak(t *testing.T) {
	tenure, clock := held()
	since := func() time.Time {
		ctx, end, standing := tenure.begin(t.Context(), 7)
		defer end()
		if standing != Mine {
			t.Fatalf("the bucket is %v", standing)
		}
		return Since(ctx)
	}
	first := since()
	*clock = clock.Add(5 * time.Second)
	tenure.extend(clock.Add(10*time.Second), all, certainly)
	if again := since(); first.IsZero() || !again.Equal(first) {
		t.Errorf("worked on since %s, and after a renewal since %s", first, again)
	}
	*clock = clock.Add(time.Hour) // the time was up meanwhile
	tenure.extend(clock.Add(10*time.Second), all, certainly)
	if again := since(); !again.Equal(*clock) {
		t.Errorf("worked on since %s, want %s, when its time began again", again, *clock)
	}
	if ctx, _, _ := (All{}).Begin(t.Context(), 7); !Since(ctx).IsZero() {
		t.Error("a replica that owns every bucket had a break")
	}
}
