package turn

import (
	"context"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Turn is the right of one pass to work.
type Turn struct {
	of   *Turns
	held atomic.Bool
}

// Yield gives the turn back before the pass is over. Whoever asks again, at the same moment even, changes nothing.
func (t *Turn) Yield() {
	if t.held.CompareAndSwap(true, false) {
		t.of.yielded.Add(1)
		t.of.free <- struct{}{}
	}
}

// end gives back what the pass still has when it is over.
func (t *Turn) end() {
	if t.held.CompareAndSwap(true, false) {
		t.of.free <- struct{}{}
		return
	}
	t.of.yielded.Add(-1)
}

type key struct{}

// Of is the turn of the pass that a context belongs to; nil when it is none's.
func Of(ctx context.Context) *Turn {
	t, _ := ctx.Value(key{}).(*Turn)
	return t
}

// Yield gives back the turn of the pass that a context belongs to, if it has one.
func Yield(ctx context.Context) {
	if t := Of(ctx); t != nil {
		t.Yield()
	}
}

// Turns are those of one controller. Its zero value is ready for Bound.
type Turns struct {
	free    chan struct{} // one for each turn that nobody has
	yielded atomic.Int64

	mu     sync.Mutex
	passes map[reconcile.Request]*Turn
}

// Yielded is how many passes go on without a turn.
func (t *Turns) Yielded() int { return int(t.yielded.Load()) }

// With has the turn of the pass that works on a request come along with its context.
func (t *Turns) With(ctx context.Context, request reconcile.Request) context.Context {
	t.mu.Lock()
	taken := t.passes[request]
	t.mu.Unlock()
	if taken == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, taken)
}

// begin notes who got a turn that was taken from free.
func (t *Turns) begin(request reconcile.Request) {
	taken := &Turn{of: t}
	taken.held.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passes[request] = taken
}

// leave forgets who works on a request. The turn is the caller's to end.
func (t *Turns) leave(request reconcile.Request) *Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.passes[request]
	delete(t.passes, request)
	return taken
}
