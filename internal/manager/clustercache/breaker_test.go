package clustercache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

func TestBackoff_DoublesUpToLimit(t *testing.T) {
	const unreachable, unauthorized = v1beta2.ReasonRuntimeUnreachable, v1beta2.ReasonRuntimeUnauthorized
	cases := []struct {
		name     string
		failures int
		reason   string
		from, to time.Duration
	}{
		{"the first failure waits up to a second", 0, unreachable, 500 * time.Millisecond, time.Second},
		{"the second one twice that", 1, unreachable, time.Second, 2 * time.Second},
		{"the sixth one half a minute", 5, unreachable, 16 * time.Second, 32 * time.Second},
		{"then it stays at a minute", 6, unreachable, 30 * time.Second, time.Minute},
		{"however long it takes", 10_000, unreachable, 30 * time.Second, time.Minute},
		{"refused credentials wait longer", 0, unauthorized, 15 * time.Second, 30 * time.Second},
		{"up to 45 seconds", 40, unauthorized, 22500 * time.Millisecond, 45 * time.Second},
		{"so does a missing impersonation", 0, v1beta2.ReasonLocalAccessMissing, 15 * time.Second, 30 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := backoff(c.failures, c.reason, 0); got != c.from {
				t.Errorf("without jitter %s, want %s", got, c.from)
			}
			if got := backoff(c.failures, c.reason, 1); got != c.to {
				t.Errorf("with full jitter %s, want %s", got, c.to)
			}
		})
	}
}

func TestBreaker_ReportsStateOfRuntime(t *testing.T) {
	now := time.Unix(1000, 0)
	gone := &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "gone"}
	var b breaker
	if p := b.currentProblem(now); p == nil || p.Reason != v1beta2.ReasonRuntimeConnecting {
		t.Fatalf("new: %v", p)
	}
	if !b.succeeded() || b.currentProblem(now) != nil || b.succeeded() {
		t.Fatal("an answer makes it up, once")
	}
	b.failed(gone, now, 1)
	if p := b.currentProblem(now); p == nil || p.Retry != time.Second+probeTimeout || p.Message != "gone" || b.reportOnce() {
		t.Fatalf("after one failure: %+v, told %v", p, b.reportOnce())
	}
	b.failed(gone, now, 1)
	if p := b.currentProblem(now.Add(time.Hour)); p == nil || p.Retry != probeTimeout || !b.reportOnce() {
		t.Fatalf("after two failures, long ago: %+v, told %v", p, b.reportOnce())
	}
	if gone.Retry != 0 {
		t.Error("the shared problem was changed")
	}
	if !b.succeeded() {
		t.Error("not recovered")
	}
	b.failed(&runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnauthorized}, now, 1)
	if !b.reportOnce() {
		t.Error("refused credentials are told at once")
	}
}

func TestBreaker_BacksOffLongerForSilentRuntime(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	cases := []struct {
		name string
		err  error
		want []time.Duration
	}{
		{"one that refuses", dial(syscall.ECONNREFUSED), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{"one that fell silent", dial(h2stream.ErrSilent), []time.Duration{time.Second, 4 * time.Second, 16 * time.Second, time.Minute}},
		{"one that never answers", context.DeadlineExceeded, []time.Duration{time.Second, 4 * time.Second, 16 * time.Second, time.Minute}},
		{"one whose dial takes too long", dial(os.ErrDeadlineExceeded), []time.Duration{time.Second, 4 * time.Second, 16 * time.Second}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			now, b := time.Unix(1000, 0), breaker{}
			for i, want := range c.want {
				b.failed(&runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Err: c.err}, now, 1)
				if got := b.until.Sub(now); got != want {
					t.Errorf("after failure %d it is left alone for %s, want %s", i+1, got, want)
				}
				if told := b.reportOnce(); told != (i == 1) {
					t.Errorf("after failure %d told: %t", i+1, told)
				}
			}
		})
	}
}

// No event reports that a runtime accepts the credentials again, so the back-off after a refusal must not grow either.
func TestBreaker_ProbesEveryMinuteAfterRefusedCredentials(t *testing.T) {
	silent := &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Err: context.DeadlineExceeded}
	refused := &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnauthorized}
	now, b := time.Unix(1000, 0), breaker{}
	for i, p := range []*runtimes.Problem{silent, silent, refused, refused, refused, refused, refused} {
		b.failed(p, now, 1)
		if got := b.until.Sub(now); got > time.Minute {
			t.Errorf("after failure %d (%s) it is left alone for %s, want at most a minute", i+1, p.Reason, got)
		}
	}
}

func TestBreaker_OpensOnUnansweredTLSHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	transport := &http.Transport{TLSHandshakeTimeout: 50 * time.Millisecond}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err == nil || !isConnectFailure(err) || !isTimeout(err) {
		t.Errorf("%v: every other call would wait as long", err)
	}
}

// closedPort returns an address without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestBreaker_DialsDeadRuntimeOncePerBackoff(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	cfg := s.config()
	cfg.Host = "https://" + closedPort(t)
	target := b.remote(t, "dead", cfg)
	_, err := b.Get(t.Context(), target)
	p := wantReason(t, err, v1beta2.ReasonRuntimeUnreachable)
	if p.Retry <= 0 {
		t.Errorf("RetryAfter = %s", p.Retry)
	}
	begun := time.Now()
	for time.Since(begun) < 3*time.Second {
		asked := time.Now()
		if _, err := b.Get(t.Context(), target); err == nil {
			t.Fatal("a dead runtime was handed out")
		}
		if took := time.Since(asked); took > 10*connectionPatience {
			t.Fatalf("Get took %s", took)
		}
		<-time.After(5 * time.Millisecond)
	}
	if n := len(b.calls.all()); n < 2 || n > 5 { // at 0, 0.5-1, 1.5-3 and so on
		t.Errorf("%d probes in 3 s", n)
	}
}

func TestGet_UnresponsiveRuntimeBlocksFewWorkers(t *testing.T) {
	b := newBench(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cfg := newStub(t).config()
	cfg.Host = "https://" + l.Addr().String()
	var workers sync.WaitGroup
	var mu sync.Mutex
	slow, together := 0, make(chan struct{})
	for i := range 20 {
		target := b.remote(t, fmt.Sprintf("silent-%d", i), cfg)
		target.Owner = ownerNamed(target.Name)
		if _, p := b.runtime(t.Context(), target); p != nil { // so that only waiting is measured
			t.Fatal(p)
		}
		workers.Go(func() {
			<-together // or the first have waited long enough when the last begins
			asked := time.Now()
			_, err := b.Get(t.Context(), target)
			took := time.Since(asked)
			mu.Lock()
			defer mu.Unlock()
			wantReason(t, err, v1beta2.ReasonRuntimeConnecting)
			if took >= connectionPatience {
				slow++
			}
		})
	}
	close(together)
	workers.Wait()
	if slow > patientWorkers {
		t.Errorf("%d workers waited, want %d at most", slow, patientWorkers)
	}
}

func TestProbe_FirstResponseEnqueuesTurnedAwayOwners(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	let := make(chan struct{})
	s.on("GET /version", func(w http.ResponseWriter, _ *http.Request) { <-let; w.WriteHeader(http.StatusForbidden) })
	target := b.remote(t, "slow", s.config())
	target.Owner = ownerNamed("asks")
	_, err := b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonRuntimeConnecting)
	b.wantQuiet(t, "there is no answer yet")
	close(let)
	b.wantWake(t, target.Owner, "the runtime answered")
	b.mustGet(t, target)
}

func TestProbe_FirstFailureEnqueuesTurnedAwayOwner(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	let := make(chan struct{})
	s.on("GET /version", func(w http.ResponseWriter, _ *http.Request) { <-let; w.WriteHeader(http.StatusServiceUnavailable) })
	target := b.remote(t, "failing", s.config())
	target.Owner = ownerNamed("asks")
	_, err := b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonRuntimeConnecting)
	close(let)
	b.wantWake(t, target.Owner, "the runtime failed")
	_, err = b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonRuntimeUnreachable)
}

func TestBreakerTransport_ConcurrentCallsDialOnce(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	s.on("GET /api/v1/configmaps", jsonAnswer(`{}`))
	r := b.mustGet(t, b.remote(t, "together", s.config()))
	r.conn.short.sockets.emptied = func() {} // which may close a connection of the next round that is idle for a moment
	for round := range 3 {
		var workers sync.WaitGroup
		for range 20 {
			workers.Go(func() {
				if _, err := r.page(t.Context(), mustFind(t, r, configMaps), trackSpec{}, pageSize, "", func(*wire.Object) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		if n := int(s.opened.Load()); n != round+1 {
			t.Fatalf("%d connections after round %d, want one per round", n, round+1)
		}
		r.conn.closeSockets()
		r.conn.suspect()
	}
}

func TestReport_OpensBreakerDependingOnError(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	cases := []struct {
		name   string
		err    error
		down   bool
		probes int
	}{
		{"success changes nothing", nil, false, 0},
		{"a caller that gave up changes nothing", context.Canceled, false, 0},
		{"an object that is refused changes nothing", apierrors.NewBadRequest("no"), false, 0},
		{"a call that took too long is checked at once", context.DeadlineExceeded, false, 1},
		{"no one to dial takes it down", dial, true, 0},
		{"refused credentials take it down", apierrors.NewUnauthorized("no"), true, 0},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			target := b.remote(t, fmt.Sprintf("reported-%d", i), s.config())
			r := b.mustGet(t, target)
			before := len(b.calls.all())
			r.Report(c.err)
			reported := time.Now()
			if _, err := b.Get(t.Context(), target); (err != nil) != c.down && time.Since(reported) < firstBackoff/2 { // before it is probed
				t.Errorf("afterwards %v, want down: %v", err, c.down)
			}
			if c.probes > 0 {
				eventually(t, "it is probed", func() bool { return len(b.calls.all()) > before })
			} else {
				<-time.After(100 * time.Millisecond)
			}
			probes := len(b.calls.all()) - before
			if late := time.Since(reported) > firstBackoff/2; probes != c.probes && (c.probes > 0 || !late) {
				t.Errorf("%d probes, want %d", probes, c.probes)
			}
		})
	}
}
