package bulk

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jobs returns that many jobs which do the same.
func jobs(count int, do func(context.Context, int) (Outcome, string)) []Job {
	var all []Job
	for i := range count {
		all = append(all, Job{key(strconv.Itoa(i)), func(ctx context.Context) (Outcome, string) { return do(ctx, i) }})
	}
	return all
}

// counts returns how many results have which outcome.
func counts(results []Result) map[Outcome]int {
	found := map[Outcome]int{}
	for _, result := range results {
		found[result.Outcome]++
	}
	return found
}

func TestRun_OneThatFailsStopsNoOther(t *testing.T) {
	var reported int
	results := Run(t.Context(), jobs(100, func(_ context.Context, i int) (Outcome, string) {
		if i%10 == 0 {
			return Failed, "refused"
		}
		return Done, "changed"
	}), Options{Concurrency: 7, Report: func(Result) { reported++ }})
	if diff := cmp.Diff(map[Outcome]int{Done: 90, Failed: 10}, counts(results)); diff != "" || reported != 100 {
		t.Errorf("%d were reported; outcomes (-want +got):\n%s", reported, diff)
	}
	for i, result := range results {
		if result.Key != key(strconv.Itoa(i)) || (result.Outcome == Failed) != (i%10 == 0) {
			t.Errorf("result %d is %+v", i, result)
		}
	}
}

func TestRun_KeepsItsBound(t *testing.T) {
	for name, c := range map[string]struct{ concurrency, most int }{
		"a few at a time": {3, 3}, "none is one": {0, 1}, "more than there are jobs": {500, 50},
	} {
		t.Run(name, func(t *testing.T) {
			var under, most atomic.Int64
			results := Run(t.Context(), jobs(50, func(context.Context, int) (Outcome, string) {
				for now := under.Add(1); ; {
					seen := most.Load()
					if now <= seen || most.CompareAndSwap(seen, now) {
						break
					}
				}
				under.Add(-1)
				return Done, ""
			}), Options{Concurrency: c.concurrency})
			if got := int(most.Load()); got > c.most || len(results) != 50 {
				t.Errorf("%d jobs were under way at once, want at most %d", got, c.most)
			}
		})
	}
}

func TestRun_FailFast(t *testing.T) {
	results := Run(t.Context(), jobs(100, func(_ context.Context, i int) (Outcome, string) {
		if i == 3 {
			return Failed, "refused"
		}
		return Done, ""
	}), Options{Concurrency: 1, FailFast: true})
	if diff := cmp.Diff(map[Outcome]int{Done: 3, Failed: 1, NotTried: 96}, counts(results)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if got := results[99].Message; got != "not begun after a failure" {
		t.Errorf("the last one says %q", got)
	}
}

func TestRun_RefusedDoesNotStopIt(t *testing.T) {
	results := Run(t.Context(), jobs(10, func(context.Context, int) (Outcome, string) { return Refused, "" }), Options{FailFast: true})
	if got := counts(results)[Refused]; got != 10 {
		t.Errorf("%d of 10 jobs were done", got)
	}
}

func TestRun_AnInterruptionLetsWhatIsUnderWayEnd(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	results := Run(ctx, jobs(20, func(ctx context.Context, i int) (Outcome, string) {
		if i == 4 {
			interrupt()
		}
		if ctx.Err() != nil {
			return Failed, "cancelled at once"
		}
		return Done, ""
	}), Options{Concurrency: 1})
	if diff := cmp.Diff(map[Outcome]int{Done: 5, NotTried: 15}, counts(results)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if got := results[19].Message; got != "not begun before the interruption" {
		t.Errorf("the last one says %q", got)
	}
}

func TestRun_WhatDoesNotEndIsCancelled(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	results := Run(ctx, jobs(1, func(ctx context.Context, _ int) (Outcome, string) {
		interrupt()
		<-ctx.Done()
		return Failed, "cancelled"
	}), Options{})
	if results[0].Outcome != Failed {
		t.Errorf("the result is %+v", results[0])
	}
}
