package fleet

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/turn"
)

// wait is a pass of a controller that waits for a runtime. When that takes longer than usual, the pass gives back its turn, and so do all
// that come to wait for the same runtime until it has answered: it holds up nobody but itself.
type wait struct {
	on    *connection
	turn  *turn.Turn
	timer *time.Timer
	stage atomic.Int32
}

// The stages of a wait.
const (
	waitBegun int32 = iota
	waitLate
	waitOver
)

// waits begins a wait, which is to be ended with over. There is nothing to give back where no pass of a controller calls, and no wait
// then (nil).
func (c *connection) waits(ctx context.Context) *wait {
	held := turn.Of(ctx)
	if held == nil || c == nil {
		return nil
	}
	if c.late.Load() > 0 {
		held.Yield()
	}
	w := &wait{on: c, turn: held}
	w.timer = time.AfterFunc(c.tempo.late(), w.isLate)
	return w
}

func (w *wait) isLate() {
	if w.stage.CompareAndSwap(waitBegun, waitLate) {
		w.on.late.Add(1)
		w.turn.Yield()
	}
}

// over ends a wait, once or more often.
func (w *wait) over() {
	if w != nil && !w.timer.Stop() && w.stage.Swap(waitOver) == waitLate {
		w.on.late.Add(-1)
	}
}

// awaited is the body of an answer that a pass waits for until it has read all of it.
type awaited struct {
	io.ReadCloser
	*wait
}

// Read implements io.Reader.
func (a *awaited) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.over()
	}
	return n, err
}

// Close implements io.Closer.
func (a *awaited) Close() error {
	a.over()
	return a.ReadCloser.Close()
}

// door lets one in at a time. Who stands in front of it waits for the runtime, since that is what whoever is inside does.
type door struct {
	to *connection
	in chan struct{}
}

// door makes one.
func (c *connection) door() door { return door{to: c, in: make(chan struct{}, 1)} }

// enter waits until nobody is inside.
func (d door) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-d.in }
	select {
	case d.in <- struct{}{}:
		return leave, nil
	default:
	}
	w := d.to.waits(ctx)
	defer w.over()
	select {
	case d.in <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-d.to.ctx.Done():
		return nil, context.Cause(d.to.ctx)
	}
}
