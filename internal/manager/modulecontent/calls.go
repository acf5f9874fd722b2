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
	// patience is the time for which the first caller, and all that join it meanwhile, wait for a response. Afterwards the call continues in
	// the background: a registry that does not answer must not block workers.
	patience = 2 * time.Second
	// pendingPause is the pause after which to ask again for an answer that is still pending.
	pendingPause = time.Second
	// shortestPause and longestPause are the limits of the back-off after a failure.
	shortestPause = 2 * time.Second
	longestPause  = 45 * time.Second
	// keptFailures is the maximum number of failures that are remembered.
	keptFailures = 4096
)

// calls makes each call once for all callers that need its answer, and remembers a failure for an increasing time. Successful answers are
// for the caller to keep. A limiter bounds the calls in progress; a call that waits for it is dropped when no caller has asked for it again
// for some time.
type calls[K comparable, V any] struct {
	patience time.Duration
	now      func() time.Time
	gate     *fairLimiter
	place    func(K) string // the place that a call counts for in the limiter

	mu      sync.Mutex
	running map[K]*call[V]
	failed  *lru.Cache
}

// call is a call in progress; answer, err and pause are set once done is closed.
type call[V any] struct {
	begun time.Time
	// asked is when the answer was last asked for, and waiting is the number of callers that wait for it now; guarded by the lock of the
	// calls.
	asked   time.Time
	waiting int

	done   chan struct{}
	answer V
	err    error
	pause  time.Duration // how long err stands
}

// failure is the last failure of a key.
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

// do returns the answer of fetch, which limits its own time and does not end with ctx, since other callers may wait for it. A positive
// retry means that there is no answer; it is the pause before asking again. With a nil err the answer is pending for the first time,
// otherwise err is the last failure.
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

// join returns the call in progress, or begins one unless the last failure, which it also returns, still stands. A caller that gets a call
// must end its wait with part.
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

// part ends the wait of a caller.
func (c *calls[K, V]) part(from *call[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from.waiting--
}

// make makes a call once the limiter permits it, if it is still wanted then.
func (c *calls[K, V]) make(ctx context.Context, key K, begun *call[V], fetch func(context.Context) (V, error)) {
	place := c.place(key)
	if !c.gate.enter(place, func() bool { return c.wanted(key, begun) }) {
		return // no caller is left
	}
	defer close(begun.done)
	defer c.gate.leave(place)
	begun.answer, begun.err = guarded(ctx, fetch)
	begun.pause = c.ended(key, begun.err)
}

// wanted reports whether a call that has not begun must still be made. One that is not wanted is forgotten at once: a later caller begins
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

// guarded turns a panic into an error: the input is untrusted, and nothing else in this goroutine would recover from it.
func guarded[V any](ctx context.Context, fetch func(context.Context) (V, error)) (answer V, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf("it cannot be read: %v", problem)}
		}
	}()
	return fetch(ctx)
}

// ended records the result of a call, and returns how long a failure stands: twice as long as the previous one, or at least as long as the
// registry requests.
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
