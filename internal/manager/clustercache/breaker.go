package clustercache

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// Back-offs between the probes of a runtime that is down. Refused credentials rarely become valid by themselves, and a new Secret resets
// the back-off; when the runtime accepts them again, which no event reports, the connection recovers within a minute.
const (
	firstBackoff       = time.Second
	lastBackoff        = time.Minute
	firstRefusal       = 30 * time.Second
	lastRefusal        = 45 * time.Second
	failuresUntilTold  = 2 // a blip shorter than the first back-off is not reported
	probeTimeout       = 10 * time.Second
	connectionPatience = time.Second
)

// phase is the state of a runtime as its breaker knows it.
type phase int

const (
	connecting phase = iota // never answered yet
	up
	down
)

// breaker decides whether a runtime may be called. It is plain data: the caller provides the time, the randomness and the lock.
type breaker struct {
	phase    phase
	failures int
	steps    int               // of the back-off
	until    time.Time         // of down: no probe before
	problem  *runtimes.Problem // of down
}

// succeeded records a response of the runtime; recovered reports that the runtime was not up before.
func (b *breaker) succeeded() (recovered bool) {
	recovered = b.phase != up
	*b = breaker{phase: up}
	return recovered
}

// failed records a failed probe, or the first failed call, and doubles the back-off; twice after a timeout: a runtime that is silent is
// rarely back in a moment, and every dial of it takes long.
func (b *breaker) failed(p *runtimes.Problem, now time.Time, jitter float64) {
	b.phase, b.problem = down, p
	b.until = now.Add(backoff(b.steps, p.Reason, jitter))
	b.failures++
	b.steps++
	if p.Err != nil && isTimeout(p.Err) {
		b.steps++
	}
}

// reportOnce reports whether the outage has just lasted long enough to notify the owners.
func (b *breaker) reportOnce() bool {
	return b.failures == failuresUntilTold || b.failures == 1 && b.problem.Reason != v1beta2.ReasonRuntimeUnreachable
}

// currentProblem returns nil when the runtime may be called, and otherwise why not.
func (b *breaker) currentProblem(now time.Time) *runtimes.Problem {
	switch b.phase {
	case up:
		return nil
	case down:
		p := *b.problem
		p.Retry = max(b.until.Sub(now), 0) + probeTimeout
		return &p
	case connecting:
	}
	return &runtimes.Problem{Reason: v1beta2.ReasonRuntimeConnecting, Message: "the runtime is being contacted"}
}

// backoff returns the time until the next probe: doubling, half of it random so that runtimes that failed together do not return together.
func backoff(steps int, reason string, jitter float64) time.Duration {
	first, last := firstBackoff, lastBackoff
	if reason != v1beta2.ReasonRuntimeUnreachable {
		first, last = firstRefusal, lastRefusal
	}
	d := last
	if steps < 16 {
		d = min(first<<steps, last)
	}
	return d/2 + time.Duration(jitter*float64(d/2))
}
