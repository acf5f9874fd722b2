package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Back-offs of one kind, while the runtime as a whole is up.
const (
	firstPause     = 200 * time.Millisecond
	lastPause      = time.Minute
	firstAbsent    = time.Second
	firstForbidden = 4 * time.Second
	lastForbidden  = 45 * time.Second // rights are given by people, who want to see that it helped
	steady         = 30 * time.Second // a stream that lived this long has earned a fresh start

	failuresUntilUnread = 5 // some 5 s of lists that fail are more than a blip
)

// errCut says that a stream was ended on purpose.
var errCut = errors.New("the stream was cut")

// errExpired says that the stream cannot be resumed: the kind has to be listed anew.
var errExpired = errors.New("the resource version is too old to watch from")

// pause is the back-off of one kind.
type pause struct {
	failures int
}

func (p *pause) reset() { p.failures = 0 }

// next is the time to wait after one more failure.
func (p *pause) next(first, last time.Duration) time.Duration {
	d := last
	if p.failures < 20 {
		d = min(first<<p.failures, last)
	}
	p.failures++
	return d/2 + time.Duration(jitter()*float64(d/2))
}

// follow is the goroutine of one kind: list, then watch from there, as long as the kind deserves a stream. It ends when a stream was handed
// over, and carryOn takes up the thread when that ends.
func (r *Runtime) follow(ctx context.Context, k *kind) {
	for ctx.Err() == nil && !r.retire(k) {
		if r.conn.await(ctx) != nil {
			return
		}
		if r.isFresh(k) {
			k.lists.reset()
			k.streams.reset()
			k.expiries.reset()
		}
		if due, learned := r.isDue(k); due {
			if err := r.list(ctx, k); err != nil {
				r.unlisted(ctx, k, &k.lists, err, learned)
				continue
			}
			k.lists.reset()
		}
		handedOver, err := r.watch(ctx, k)
		if handedOver {
			return
		}
		r.unwatched(ctx, k, &k.streams, err)
	}
}

// recovered has everything that waits try again: what failed because of an outage is worth a new attempt after it.
func (r *Runtime) recovered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kinds {
		k.fresh = true
		k.stir()
	}
}

// isFresh says, once, that the runtime has recovered since it was asked before, or that the kind's definition was established.
func (r *Runtime) isFresh(k *kind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := k.fresh
	k.fresh = false
	return fresh
}

// carryOn goes on after a stream that was handed over ended.
func (r *Runtime) carryOn(ctx context.Context, k *kind, s *stream, err error) {
	if time.Since(s.begun) > steady {
		k.streams.reset()
		k.expiries.reset()
	}
	r.unwatched(ctx, k, &k.streams, err)
	r.follow(ctx, k)
}

// isDue says whether the kind is to be listed, and how many objects of it were learned until now.
func (r *Runtime) isDue(k *kind) (due bool, learned uint) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return k.due, k.learned
}

// unlisted waits after a list that failed, as long as the failure deserves.
func (r *Runtime) unlisted(ctx context.Context, k *kind, p *pause, err error, learned uint) {
	switch class := apply.Classify(err); {
	case ctx.Err() != nil, errors.Is(err, errAgain):
	case class == apply.ClassUnauthorized:
		r.conn.trip(err)
	case class == apply.ClassKindUnknown:
		r.unserved(k, learned)
		if r.served.young(k.gk) { // an attempt that comes too early is no failure
			r.sleep(ctx, k, new(pause).next(firstPause, firstPause))
			return
		}
		r.sleep(ctx, k, p.next(firstAbsent, r.cfg.AuditInterval))
	case immense(err):
		r.overfed(k, err)
		r.sleep(ctx, k, p.next(firstForbidden, r.cfg.AuditInterval))
	case class == apply.ClassForbidden:
		r.forbidden(k, err)
		r.sleep(ctx, k, p.next(firstForbidden, min(lastForbidden, r.cfg.AuditInterval)))
	default:
		r.conn.doubt()
		r.unread(k, p, err)
		r.sleep(ctx, k, max(p.next(firstPause, lastPause), advised(err)))
	}
}

// unwatched decides how to go on after a stream ended. One that ends on time is resumed at once; one that ends early, however politely,
// is not, or a broken proxy would have us call without pause. One that has expired is listed at once, however often streams ended before:
// an API server that starts ends them for a while, and what it says then is that it is ready again.
func (r *Runtime) unwatched(ctx context.Context, k *kind, p *pause, err error) {
	switch class := apply.Classify(err); {
	case ctx.Err() != nil, errors.Is(err, errCut):
	case err == nil && p.failures == 0:
		p.failures++
	case errors.Is(err, errExpired), class == apply.ClassKindUnknown:
		r.expire(k)
		if e := &k.expiries; e.failures == 0 {
			e.failures++
		} else {
			r.sleep(ctx, k, e.next(firstPause, lastPause))
		}
	case class == apply.ClassUnauthorized:
		r.conn.trip(err)
	case immense(err):
		r.overfed(k, err)
		r.sleep(ctx, k, p.next(firstForbidden, r.cfg.AuditInterval))
	case class == apply.ClassForbidden:
		r.forbidden(k, err)
		r.sleep(ctx, k, p.next(firstForbidden, min(lastForbidden, r.cfg.AuditInterval)))
	default:
		r.conn.doubt()
		r.sleep(ctx, k, max(p.next(firstPause, lastPause), advised(err)))
	}
}

// advised is how long the API server asks to wait. It asks for a second when it fills its cache of a kind, which takes milliseconds where
// the kind is new; our own back-off will do.
func advised(err error) time.Duration {
	if apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), "storage is (re)initializing") {
		return 0
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		return min(time.Duration(seconds)*time.Second, lastPause)
	}
	return 0
}

// sleep waits, unless something happens that makes another attempt worthwhile.
func (r *Runtime) sleep(ctx context.Context, k *kind, d time.Duration) {
	r.mu.RLock()
	idle := !k.watched && !k.due
	r.mu.RUnlock()
	if idle {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-k.poke:
	case <-ctx.Done():
	}
}

// expire asks for a list.
func (r *Runtime) expire(k *kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k.due = true
}

// unserved notes that the runtime does not know the kind: nothing of it exists, unless a write of ours proved otherwise meanwhile. A kind
// without a stream is looked for again by the audit, or when its CustomResourceDefinition is learned and for some moments after that.
func (r *Runtime) unserved(k *kind, learned uint) {
	r.mu.Lock()
	var told, ready []types.NamespacedName
	if k.learned == learned {
		k.absent, k.problem, k.resource = true, nil, nil
		told, ready = r.replace(k, nil, 0), r.announce()
		k.due = k.watched || r.served.young(k.gk)
		r.assign()
	}
	r.mu.Unlock()
	r.conn.tellOnce(told, ready)
}

// forbidden notes that the kind cannot be read. What was known of it stays.
func (r *Runtime) forbidden(k *kind, err error) {
	r.barred(k, &Problem{
		Reason: v1beta2.ReasonRuntimeForbidden, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be watched: %s", k.gk, r.conn.target, cause(err)),
	})
}

// unread says why a kind is not known, where a server that is there fails to list it for longer than a blip. One that was listed before
// stays as it was.
func (r *Runtime) unread(k *kind, p *pause, err error) {
	r.mu.RLock()
	known := k.synced
	r.mu.RUnlock()
	if known || p.failures+1 < failuresUntilUnread {
		return
	}
	r.barred(k, &Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be read: %s", k.gk, r.conn.target, cause(err)),
	})
}

// immense says that the kind is more than is read or kept.
func immense(err error) bool { return errors.Is(err, errTooLarge) || errors.Is(err, errTooMuch) }
