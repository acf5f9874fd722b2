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
