package clustercache

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
)

// slowCall is a reconcile request that waits for a runtime. When that takes longer than usual, the request gives back its worker slot, and
// so do all that start to wait for the same runtime until it has responded: it blocks no other request.
type slowCall struct {
	on    *connection
	slot  *workerslot.Slot
	timer *time.Timer
	stage atomic.Int32
}

// The stages of a wait.
const (
	waitBegun int32 = iota
	waitLate
	waitOver
)

// startSlowCall starts a wait, which the caller ends with over. Outside of a reconcile request there is no worker slot to give back, and
// waits returns nil.
func (c *connection) startSlowCall(ctx context.Context) *slowCall {
	held := workerslot.FromContext(ctx)
	if held == nil || c == nil {
		return nil
	}
	if c.late.Load() > 0 {
		held.Yield()
	}
	w := &slowCall{on: c, slot: held}
	w.timer = time.AfterFunc(c.tempo.late(), w.isLate)
	return w
}

func (w *slowCall) isLate() {
	if w.stage.CompareAndSwap(waitBegun, waitLate) {
		w.on.late.Add(1)
		w.slot.Yield()
	}
}

// endWait ends a wait; it may be called several times.
func (w *slowCall) endWait() {
	if w != nil && !w.timer.Stop() && w.stage.Swap(waitOver) == waitLate {
		w.on.late.Add(-1)
	}
}

// trackedBody is the body of a response; the wait lasts until the request has read all of it.
type trackedBody struct {
	io.ReadCloser
	*slowCall
}

// Read implements io.Reader.
func (a *trackedBody) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.endWait()
	}
	return n, err
}

// Close implements io.Closer.
func (a *trackedBody) Close() error {
	a.endWait()
	return a.ReadCloser.Close()
}

// ctxMutex is a mutex whose lock respects a context. Waiting for it counts as waiting for the runtime, as its holder does.
type ctxMutex struct {
	to *connection
	in chan struct{}
}

// newMutex returns a ctxMutex.
func (c *connection) newMutex() ctxMutex { return ctxMutex{to: c, in: make(chan struct{}, 1)} }

// enter acquires the mutex; leave releases it.
func (d ctxMutex) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-d.in }
	select {
	case d.in <- struct{}{}:
		return leave, nil
	default:
	}
	w := d.to.startSlowCall(ctx)
	defer w.endWait()
	select {
	case d.in <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-d.to.ctx.Done():
		return nil, context.Cause(d.to.ctx)
	}
}
