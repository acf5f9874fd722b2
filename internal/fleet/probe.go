package fleet

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// probe asks the runtime for its version, in the background and never twice at a time, and tells the breaker.
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
			leave, err := c.entrance.enter(c.ctx, c)
			if err != nil {
				return // the connection ends
			}
			defer leave()
		}
		ctx, cancel := context.WithTimeout(c.ctx, probeTimeout)
		defer cancel()
		err := c.ask(ctx)
		if err == nil && c.asksIdentity {
			err = c.identify(ctx)
		}
		if c.ctx.Err() != nil {
			return
		}
		if err != nil {
			c.lost(err, true)
		} else {
			c.succeed()
		}
	})
}

// ask makes the one call of a probe. Every answer but a refusal of the credentials and a server's own failure proves that the runtime
// is there: what the credentials allow is for the calls to find out.
func (c *connection) ask(ctx context.Context) error {
	path := c.base.JoinPath("version")
	req, err := http.NewRequestWithContext(marked(ctx, markProbe), http.MethodGet, path.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.do(req) //nolint:bodyclose // drain closes it
	if err != nil {
		c.hangUp() // a connection that does not answer is of no use to the next probe either
		return err
	}
	defer drain(resp.Body)
	switch {
	case resp.StatusCode == http.StatusUnauthorized,
		resp.StatusCode == http.StatusForbidden && c.target.Local,
		resp.StatusCode >= http.StatusInternalServerError:
		return statusError(resp, "get", path.Path)
	}
	return nil
}

// drain lets a connection be used again after a short answer that nobody reads.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}

// succeed ends an outage: whoever tracks the runtime or asked for it meanwhile is told.
func (c *connection) succeed() {
	c.mu.Lock()
	c.probing = false
	recovering := c.breaker.phase == down
	var told []types.NamespacedName
	level := urgency.AsBefore // a first answer was waited for
	if c.breaker.succeeded() {
		close(c.answers)
		c.settle()
		told = c.waiters(true)
	}
	c.mu.Unlock()
	if recovering {
		c.recovered()
		level, told = urgency.Soon, append(told, c.concerned()...)
	}
	c.tell(level, told...)
}

// trip is a call without an answer: the runtime is down, whatever was known before.
func (c *connection) trip(err error) { c.lost(err, false) }

// lost takes a failed probe or a failed call, plans the next probe and tells those concerned when it is time to.
func (c *connection) lost(err error, probed bool) {
	p := problemOf(c.target, err)
	p.Message = string(c.hide([]byte(p.Message)))
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
	c.settle()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(time.Until(c.breaker.until), c.probe)
	var told []types.NamespacedName
	tell := was == connecting || c.breaker.told()
	if tell {
		told = c.waiters(false)
	}
	c.mu.Unlock()
	if tell {
		c.tell(urgency.Soon, append(told, c.concerned()...)...)
	}
}

// waiters lists the owners that were turned away. The caller holds the lock.
func (c *connection) waiters(forget bool) []types.NamespacedName {
	owners := make([]types.NamespacedName, 0, len(c.awaiting))
	for owner := range c.awaiting {
		owners = append(owners, owner)
	}
	if forget {
		clear(c.awaiting)
	}
	return owners
}

// settle notes that there is an answer at all, be it a bad one. The caller holds the lock.
func (c *connection) settle() {
	if !c.isSettled() {
		close(c.settled)
	}
}
