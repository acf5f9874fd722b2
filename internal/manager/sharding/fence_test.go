package sharding

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// held returns a tenure with a clock that the test moves, in which every bucket is worked on for ten seconds.
func held() (t *bucketOwnership, clock *time.Time) {
	now := time.Unix(1000, 0)
	t = &bucketOwnership{now: func() time.Time { return now }}
	t.extend(now.Add(10*time.Second), all, certainly)
	return t, &now
}

func all(int) (mine, moving bool) { return true, false }

func none(int) (mine, moving bool) { return false, false }

func certainly(int) bool { return true }

func TestFence(t *testing.T) {
	const objects = "/apis/operator.kyma-project.io/v1beta2/namespaces/kcp-system/kymas/k"
	marked := func(t *bucketOwnership) context.Context {
		ctx, _, _ := t.begin(context.Background(), 7)
		return ctx
	}
	for name, test := range map[string]struct {
		method, path string
		ctx          func(t *bucketOwnership, clock *time.Time) context.Context
		want         string
	}{
		"a write of a pass is sent": {http.MethodPatch, objects, func(t *bucketOwnership, _ *time.Time) context.Context { return marked(t) }, ""},
		"a write of no one is a mistake": {
			http.MethodPatch, objects, func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, WhyUnmarked,
		},
		"a read of no one is sent": {
			http.MethodGet, objects, func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, "",
		},
		"an Event of no one is sent": {
			http.MethodPost, "/apis/events.k8s.io/v1/namespaces/kcp-system/events",
			func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, "",
		},
		"a series of an Event is sent": {
			http.MethodPatch, "/api/v1/namespaces/kcp-system/events/e",
			func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, "",
		},
		"a namespace with the name of Events is none": {
			http.MethodDelete, "/api/v1/namespaces/events", func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, WhyUnmarked,
		},
		"what lies in a namespace of that name is none": {
			http.MethodDelete, "/api/v1/namespaces/events/secrets/events",
			func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, WhyUnmarked,
		},
		"a question by POST is sent": {
			http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			func(*bucketOwnership, *time.Time) context.Context { return context.Background() }, "",
		},
		"a write after the time is up is refused, although no one noticed yet": {
			http.MethodDelete, objects, func(t *bucketOwnership, clock *time.Time) context.Context {
				ctx := marked(t)
				*clock = clock.Add(10 * time.Second)
				return ctx
			}, WhyLapsed,
		},
		"it stays refused when the time is extended after that": {
			http.MethodDelete, objects, func(t *bucketOwnership, clock *time.Time) context.Context {
				ctx := marked(t)
				*clock = clock.Add(11 * time.Second)
				t.extend(clock.Add(10*time.Second), all, certainly)
				return ctx
			}, WhyLapsed,
		},
		"a write of a pass that is over is refused": {
			http.MethodPut, objects, func(t *bucketOwnership, _ *time.Time) context.Context {
				ctx, end, _ := t.begin(context.Background(), 7)
				end()
				return context.WithoutCancel(ctx)
			}, WhyEnded,
		},
		"a write in a bucket that moved is refused": {
			http.MethodPut, objects, func(t *bucketOwnership, clock *time.Time) context.Context {
				ctx := marked(t)
				t.extend(clock.Add(10*time.Second), none, certainly)
				return context.WithoutCancel(ctx)
			}, WhyMoved,
		},
		"a write in a bucket that is waited for is sent": {
			http.MethodPut, objects, func(t *bucketOwnership, clock *time.Time) context.Context {
				ctx := marked(t)
				t.extend(clock.Add(10*time.Second), func(int) (bool, bool) { return true, true }, certainly)
				return ctx
			}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tenure, clock := held()
			sent, refused := 0, map[string]int{}
			fence := &Fence{Refused: func(why string) { refused[why]++ }, Next: roundTripper(func(*http.Request) (*http.Response, error) {
				sent++
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			})}
			req := httptest.NewRequestWithContext(test.ctx(tenure, clock), test.method, "https://hub"+test.path, strings.NewReader("{}"))
			resp, err := fence.RoundTrip(req)
			refusal, _ := errors.AsType[*Refusal](err)
			switch {
			case test.want == "" && (err != nil || sent != 1 || len(refused) > 0):
				t.Errorf("refused with %v", err)
			case test.want != "" && (refusal == nil || refusal.Why != test.want || sent != 0 || refused[test.want] != 1):
				t.Errorf("got %v, %d were sent, refused %v", err, sent, refused)
			}
			if resp != nil {
				_ = resp.Body.Close()
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestFence_CancelsWriteWhenTheRightEnds(t *testing.T) {
	tenure, clock := held()
	arrived, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		close(arrived)
		<-req.Context().Done()
		close(ended)
	}))
	defer server.Close()
	ctx, end, _ := tenure.begin(context.Background(), 7)
	defer end()
	// Not cancelled with the pass, as the last words of a pass are not.
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPatch, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, 1)
	go func() {
		resp, err := (&Fence{Next: http.DefaultTransport}).RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		answers <- err
	}()
	<-arrived
	*clock = clock.Add(time.Minute)
	if _, _, standing := tenure.begin(context.Background(), 8); standing != Paused {
		t.Errorf("after the end of the time a bucket is %v", standing)
	}
	if err := <-answers; !errors.Is(err, context.Canceled) {
		t.Errorf("the write ended with %v", err)
	}
	<-ended
	if ctx.Err() == nil {
		t.Error("the pass goes on")
	}
}

// A pass that learns from one of its writes that its right has ended uses its context to decide how to record what it did.
func TestPass_CancelsItsContextBeforeItsWrites(t *testing.T) {
	for name, end := range map[string]func(tenure *bucketOwnership, clock *time.Time){
		"the time is up": func(tenure *bucketOwnership, clock *time.Time) {
			*clock = clock.Add(10 * time.Second)
			tenure.begin(context.Background(), 7)
		},
		"the bucket moved": func(tenure *bucketOwnership, clock *time.Time) {
			tenure.extend(clock.Add(10*time.Second), none, certainly)
		},
		"the bucket drains, and the pass takes too long": func(tenure *bucketOwnership, _ *time.Time) {
			tenure.stop()
			tenure.cancelDraining()
		},
	} {
		t.Run(name, func(t *testing.T) {
			tenure, clock := held()
			ctx, done, _ := tenure.begin(context.Background(), 7)
			defer done()
			var ends []error
			const writes = 8
			for range writes {
				if _, err := permitted(ctx, func(error) { ends = append(ends, ctx.Err()) }); err != nil {
					t.Fatal(err)
				}
			}
			end(tenure, clock)
			if len(ends) != writes || slices.Contains(ends, nil) {
				t.Errorf("the context of the pass says %v when its writes end", ends)
			}
		})
	}
}

func TestBucketOwnership_ExpiresByTimer(t *testing.T) {
	tenure := &bucketOwnership{now: time.Now, arm: func(after time.Duration, do func()) func() bool { return time.AfterFunc(after, do).Stop }}
	tenure.extend(time.Now().Add(time.Hour), all, certainly)
	ctx, end, _ := tenure.begin(context.Background(), 7)
	defer end()
	tenure.extend(time.Now().Add(20*time.Millisecond), all, certainly)
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("the pass goes on")
	}
}

func TestBucketOwnership_ExpiresDuringExtend(t *testing.T) {
	clock, pace := time.Now(), time.Duration(0)
	tenure := &bucketOwnership{
		now: func() time.Time { clock = clock.Add(pace); return clock },
		arm: func(time.Duration, func()) func() bool { return func() bool { return true } },
	}
	tenure.extend(clock.Add(time.Hour), all, certainly)
	ctx, end, _ := tenure.begin(context.Background(), 7)
	defer end()
	pace = time.Second // for every look at the clock: one whether the old time has ended, one whether the new one is, one how much is left
	tenure.extend(clock.Add(2500*time.Millisecond), all, certainly)
	if ctx.Err() == nil {
		t.Error("the pass goes on, and no one will look again")
	}
}

func TestWithin_IgnoresChangedWallClock(t *testing.T) {
	start := time.Now()
	until := start.Add(10 * time.Second)
	if !within(start.Add(9*time.Second), until) || within(start.Add(10*time.Second), until) {
		t.Error("without any change of a clock the time is wrong")
	}
	// Time.Round strips the monotonic reading of the clock: what is left is the wall clock.
	if jumped := start.Round(0).Add(time.Hour); within(jumped, until) {
		t.Error("a machine that stood still for an hour goes on")
	}
}

func TestEach_ReportsMovedBuckets(t *testing.T) {
	tenure, clock := held()
	ctx, cancel := context.WithCancel(context.Background())
	told, over := make(chan OwnershipChange), make(chan struct{})
	go func() {
		defer close(over)
		tenure.each(ctx, func(moved OwnershipChange) { told <- moved })
	}()
	if first := <-told; first.Gained != everything() || first.Lost != ([Buckets]bool{}) {
		t.Errorf("at first it tells %v", first)
	}
	tenure.extend(clock.Add(10*time.Second), func(bucket int) (bool, bool) { return bucket != 5, false }, certainly)
	if second := <-told; !second.Lost[5] || second.Lost[4] || second.Either(6) {
		t.Errorf("then it tells %v", second)
	}
	*clock = clock.Add(time.Minute)
	tenure.extend(clock.Add(10*time.Second), func(bucket int) (bool, bool) { return bucket != 5, false }, certainly)
	if third := <-told; third.Either(5) || !third.Gained[6] {
		t.Errorf("after a lapse it tells %v", third)
	}
	cancel()
	<-over
	if len(tenure.watchers) != 0 {
		t.Error("who does not listen any more is still told")
	}
}

func everything() (buckets [Buckets]bool) {
	for bucket := range buckets {
		buckets[bucket] = true
	}
	return buckets
}

func TestBucketOwnership_WaitsForAFreshView(t *testing.T) {
	tenure, clock := held()
	tenure.extend(clock.Add(10*time.Second), none, certainly)
	never := func(int) bool { return false }
	arriving := tenure.extend(clock.Add(10*time.Second), all, never)
	if len(arriving) != Buckets || tenure.counts()[working] != 0 {
		t.Fatalf("%d buckets arrive, stages are %v", len(arriving), tenure.counts())
	}
	if again := tenure.extend(clock.Add(10*time.Second), all, never); len(again) != 0 {
		t.Errorf("%d buckets arrive twice", len(again))
	}
	tenure.arrived(arriving[:10], true)
	tenure.arrived(arriving[10:20], false)
	tenure.extend(clock.Add(10*time.Second), func(bucket int) (bool, bool) { return true, bucket == 30 }, never)
	tenure.arrived(arriving[30:31], true) // it is to continue to another replica already
	want := map[stage]int{working: 10, paused: 1, coming: 53}
	if got := tenure.counts(); !maps.Equal(got, want) {
		t.Errorf("stages are %v, want %v", got, want)
	}
	if !tenure.drained(30) || tenure.drained(0) {
		t.Error("what did not come may go, and what is worked on may not")
	}
}
