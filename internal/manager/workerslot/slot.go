package workerslot

import (
	"context"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Slot is the right of one reconcile request to run.
type Slot struct {
	of   *Pool
	held atomic.Bool
}

// Yield gives the slot back before the request is done. Further calls, even concurrent ones, have no effect.
func (t *Slot) Yield() {
	if t.held.CompareAndSwap(true, false) {
		t.of.yielded.Add(1)
		t.of.free <- struct{}{}
	}
}

// end gives the slot back when the request is done, unless it has yielded.
func (t *Slot) end() {
	if t.held.CompareAndSwap(true, false) {
		t.of.free <- struct{}{}
		return
	}
	t.of.yielded.Add(-1)
}

type key struct{}

// FromContext returns the slot of the request that a context belongs to, or nil.
func FromContext(ctx context.Context) *Slot {
	t, _ := ctx.Value(key{}).(*Slot)
	return t
}

// Yield gives back the slot of the request that a context belongs to, if it has one.
func Yield(ctx context.Context) {
	if t := FromContext(ctx); t != nil {
		t.Yield()
	}
}

// Pool holds the slots of one controller. Its zero value is ready for Configure.
type Pool struct {
	free    chan struct{} // one for each free slot
	yielded atomic.Int64

	mu     sync.Mutex
	passes map[reconcile.Request]*Slot
}

// Yielded returns how many requests continue without a slot.
func (t *Pool) Yielded() int { return int(t.yielded.Load()) }

// With returns a context with the slot of a request in progress.
func (t *Pool) With(ctx context.Context, request reconcile.Request) context.Context {
	t.mu.Lock()
	taken := t.passes[request]
	t.mu.Unlock()
	if taken == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, taken)
}

// begin records the request that got a slot from free.
func (t *Pool) begin(request reconcile.Request) {
	taken := &Slot{of: t}
	taken.held.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passes[request] = taken
}

// leave forgets the slot of a request and returns it; the caller ends it.
func (t *Pool) leave(request reconcile.Request) *Slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.passes[request]
	delete(t.passes, request)
	return taken
}
