package modulecontent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	// patience is how long the first caller waits for a response, and all that join it meanwhile. Afterwards the call goes
	// on alone: a registry that does not answer must not hold the workers that others need.
	patience = 2 * time.Second
	// pendingPause is when it is worth asking again for an answer that is still on its way.
	pendingPause = time.Second
	// shortestPause and longestPause bound the back-off after a failure.
	shortestPause = 2 * time.Second
	longestPause  = 45 * time.Second
	// keptFailures bounds what is remembered of failures.
	keptFailures = 4096
)

// calls makes each call once for all who want its answer, and remembers a failure for a growing while. Answers that succeed are for the
// caller to keep. A gate bounds how many are under way; what waits behind it is dropped when it was not asked for again for a while.
type calls[K comparable, V any] struct {
	patience time.Duration
	now      func() time.Time
	gate     *fairLimiter
	place    func(K) string // whose part of the gate a call takes

	mu      sync.Mutex
	running map[K]*call[V]
	failed  *lru.Cache
}

// call is one that is under way; the rest is there once done is closed.
type call[V any] struct {
	begun time.Time
	// parsedSource is when the answer was last asked for, and waiting how many wait for it now; guarded by the lock of the calls.
	asked   time.Time
	waiting int

	done   chan struct{}
	answer V
	err    error
	pause  time.Duration // for which err stands
}

// failure is the last one of a key.
type failure struct {
	err   error
	pause time.Duration
	until time.Time
}

func newCalls[K comparable, V any](through *fairLimiter, place func(K) string) *calls[K, V] {
	return &calls[K, V]{
		patience: patience, now: time.Now, gate: through, place: place, running: map[K]*call[V]{}, failed: lru.New(keptFailures),
	}
}

// do returns the answer of fetch, which bounds its own time and does not end with ctx, since others may wait for it. A positive retry
// says that there is none and when it is worth asking again: with err nil it is on its way for the first time, otherwise err is what
// stood in the way last.
func (c *calls[K, V]) do(ctx context.Context, key K, fetch func(context.Context) (V, error)) (answer V, retry time.Duration, err error) {
	running, last := c.join(ctx, key, fetch)
	if running == nil {
		return answer, last.until.Sub(c.now()), last.err
	}
	defer c.part(running)
	wait := time.NewTimer(running.begun.Add(c.patience).Sub(c.now()))
	defer wait.Stop()
	select {
	case <-running.done:
	case <-wait.C:
	case <-ctx.Done():
	}
	select {
	case <-running.done:
	default:
		return answer, pendingPause, last.err
	}
	if running.err != nil {
		return answer, running.pause, running.err
	}
	return running.answer, 0, nil
}

// join finds the call that is under way, or begins one unless the last failure, which comes along, still stands. The caller that gets one
// waits for it until part.
func (c *calls[K, V]) join(ctx context.Context, key K, fetch func(context.Context) (V, error)) (*call[V], failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, failed := c.last(key)
	if running, ok := c.running[key]; ok {
		running.asked = c.now()
		running.waiting++
		return running, last
	}
	if failed && c.now().Before(last.until) {
		return nil, last
	}
	begun := &call[V]{begun: c.now(), asked: c.now(), waiting: 1, done: make(chan struct{})}
	c.running[key] = begun
	go c.make(context.WithoutCancel(ctx), key, begun, fetch)
	return begun, last
}

// part says that a caller waits no longer.
func (c *calls[K, V]) part(from *call[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from.waiting--
}

// make makes a call once its turn has come, if it is wanted then.
func (c *calls[K, V]) make(ctx context.Context, key K, begun *call[V], fetch func(context.Context) (V, error)) {
	place := c.place(key)
	if !c.gate.enter(place, func() bool { return c.wanted(key, begun) }) {
		return // no one is left who would hear of it
	}
	defer close(begun.done)
	defer c.gate.leave(place)
	begun.answer, begun.err = guarded(ctx, fetch)
	begun.pause = c.ended(key, begun.err)
}

// wanted reports whether a call that has not begun is still to be made. One that is not is forgotten at once: who asks later begins
// another.
func (c *calls[K, V]) wanted(key K, begun *call[V]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun.waiting > 0 || c.now().Sub(begun.asked) < lapse {
		return true
	}
	delete(c.running, key)
	return false
}

// guarded makes an error of a panic: the input is untrusted, and no caller of this goroutine would recover it.
func guarded[V any](ctx context.Context, fetch func(context.Context) (V, error)) (answer V, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf("it cannot be read: %v", problem)}
		}
	}()
	return fetch(ctx)
}

// ended takes note of how a call ended, and says for how long a failure stands: twice as long as the one before, or as long as the
// registry asked to be left alone.
func (c *calls[K, V]) ended(key K, err error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, key)
	if err == nil {
		c.failed.Remove(key)
		return 0
	}
	pause := shortestPause
	if last, ok := c.last(key); ok && c.now().Sub(last.until) < longestPause {
		pause = min(2*last.pause, longestPause)
	}
	stands := pause
	if asked, ok := errors.AsType[*content.Error](err); ok {
		stands = max(stands, asked.RetryAfter)
	}
	c.failed.Add(key, failure{err: err, pause: pause, until: c.now().Add(stands)})
	return stands
}

func (c *calls[K, V]) last(key K) (failure, bool) {
	known, _ := c.failed.Get(key)
	last, ok := known.(failure)
	return last, ok
}
