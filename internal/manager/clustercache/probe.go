package clustercache

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
)

// probe requests the runtime's version, in the background and never twice at a time, and updates the breaker.
func (c *connection) probe() {
	c.mu.Lock()
	if c.probing || c.ctx.Err() != nil {
		c.mu.Unlock()
		return
	}
	c.probing = true
	first := c.breaker.phase == connecting
	c.mu.Unlock()
	c.spawn(func() {
		if first {
			leave, err := c.admission.enter(c.ctx, c)
			if err != nil {
				return // the connection ends
			}
			defer leave()
		}
		ctx, cancel := context.WithTimeout(c.ctx, probeTimeout)
		defer cancel()
		err := c.probeVersion(ctx)
		if err == nil && c.asksIdentity {
			err = c.identify(ctx)
		}
		if err == nil && c.asksClaim {
			err = c.readClaim(ctx)
		}
		if c.ctx.Err() != nil {
			return
		}
		if err != nil {
			c.recordFailure(err, true)
		} else {
			c.recordSuccess()
		}
	})
}

// ask makes the one call of a probe. Every response except refused credentials and server errors proves that the runtime
// is up: the calls find out what the credentials allow.
func (c *connection) probeVersion(ctx context.Context) error {
	path := c.base.JoinPath("version")
	req, err := http.NewRequestWithContext(marked(ctx, markProbe), http.MethodGet, path.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.do(req) //nolint:bodyclose // drain closes it
	if err != nil {
		c.closeSockets() // a connection that does not answer is of no use to the next probe either
		return err
	}
	defer drain(resp.Body)
	switch {
	case resp.StatusCode == http.StatusUnauthorized,
		resp.StatusCode == http.StatusForbidden && c.target.Local,
		resp.StatusCode >= http.StatusInternalServerError:
		return statusError(resp, "get", path.Path)
	case resp.StatusCode == http.StatusOK:
		if version, err := readVersion(io.LimitReader(resp.Body, maxVersionBody)); err == nil {
			c.recordVersion(version)
		}
	}
	return nil
}

// drain reads the rest of a short unread response, so that the connection can be reused.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}

// recordSuccess ends an outage, and enqueues the owners that track the runtime or were turned away meanwhile.
func (c *connection) recordSuccess() {
	c.mu.Lock()
	c.probing = false
	recovering := c.breaker.phase == down
	var told []types.NamespacedName
	level := priority.AsBefore // a first answer was waited for
	if c.breaker.succeeded() {
		close(c.answers)
		c.recordAnswerLocked()
		told = c.waitingOwnersLocked(true)
	}
	c.mu.Unlock()
	if recovering {
		c.recovered()
		level, told = priority.Soon, append(told, c.concerned()...)
	}
	c.tell(level, told...)
}

// openBreaker handles a call without a response: the runtime is down, whatever was known before.
func (c *connection) openBreaker(err error) { c.recordFailure(err, false) }

// recordFailure handles a failed probe or call, schedules the next probe, and enqueues the owners when the outage has lasted long enough.
func (c *connection) recordFailure(err error, probed bool) {
	p := problemOf(c.target, err)
	p.Message = string(c.redact([]byte(p.Message)))
	c.mu.Lock()
	was := c.breaker.phase
	if probed {
		c.probing = false
	}
	if c.ctx.Err() != nil || was == down && !probed { // calls fail together when a runtime goes: only the first one counts
		c.mu.Unlock()
		return
	}
	if was == up {
		c.answers = make(chan struct{})
	}
	c.breaker.failed(p, time.Now(), jitter())
	c.recordAnswerLocked()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(time.Until(c.breaker.until), c.probe)
	var told []types.NamespacedName
	tell := was == connecting || c.breaker.reportOnce()
	if tell {
		told = c.waitingOwnersLocked(false)
	}
	c.mu.Unlock()
	if tell {
		c.tell(priority.Soon, append(told, c.concerned()...)...)
	}
}

// waitingOwnersLocked returns the owners that were turned away. The caller holds the lock.
func (c *connection) waitingOwnersLocked(forget bool) []types.NamespacedName {
	owners := make([]types.NamespacedName, 0, len(c.awaiting))
	for owner := range c.awaiting {
		owners = append(owners, owner)
	}
	if forget {
		clear(c.awaiting)
	}
	return owners
}

// recordAnswerLocked records that there was a first response, or a failure. The caller holds the lock.
func (c *connection) recordAnswerLocked() {
	if !c.isSettled() {
		close(c.settled)
	}
}
