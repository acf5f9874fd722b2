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
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// errCut says that a stream was ended on purpose.
var errCut = errors.New("the stream was cut")

// errExpired says that the stream cannot be resumed: the kind has to be listed anew.
var errExpired = errors.New("the resource version is too old to watch from")

// errMissed says that the stream told something that was not read: the kind has to be listed anew.
var errMissed = errors.New("an event was lost")

// follow is the goroutine of one kind: list, then watch from there, as long as the kind deserves a stream. What comes next is decided by
// the kind's life. It ends when a stream was handed over, and carryOn takes up the thread when that ends.
func (r *Runtime) follow(ctx context.Context, k *kind) {
	for ctx.Err() == nil && !r.retire(k) {
		if r.conn.await(ctx) != nil {
			return
		}
		step, learned := r.next(k)
		switch begun := time.Now(); step {
		case stepList:
			r.afterList(ctx, k, begun, learned, r.list(ctx, k))
		case stepWatch:
			s, handedOver, err := r.watch(ctx, k)
			if handedOver {
				return
			}
			r.afterStream(ctx, k, s, err)
		case stepNone:
		}
	}
}

// next asks the kind's life what to do, and tells how many objects of the kind were learned until now.
func (r *Runtime) next(k *kind) (s step, learned uint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return k.next(time.Now()), k.learned
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

// carryOn goes on after a stream that was handed over ended.
func (r *Runtime) carryOn(ctx context.Context, k *kind, s *stream, err error) {
	r.afterStream(ctx, k, s, err)
	r.follow(ctx, k)
}

// afterList does what a list that is over asks for, and waits as long as that deserves.
func (r *Runtime) afterList(ctx context.Context, k *kind, begun time.Time, learned uint, err error) {
	if ctx.Err() != nil {
		return
	}
	a := r.attempt(err, begun)
	a.young = r.served.young(k.gk)
	switch a.outcome {
	case outcomeUnauthorized:
		r.conn.trip(err)
	case outcomeUnserved:
		r.unserved(k, learned)
	case outcomeExcessive:
		r.overfed(k, err)
	case outcomeForbidden:
		r.forbidden(k, err)
	case outcomeFailed, outcomeLost:
		r.conn.doubt()
		r.unread(k, err)
	case outcomeDone, outcomeCut:
	}
	r.wait(ctx, k, func() time.Duration {
		if a.outcome > outcomeCut {
			k.failed = err
		}
		return k.afterList(a)
	})
}

// afterStream is the same for a stream; s is nil when none was wanted any more.
func (r *Runtime) afterStream(ctx context.Context, k *kind, s *stream, err error) {
	if ctx.Err() != nil {
		return
	}
	a := r.attempt(err, time.Now())
	if s != nil {
		a.began, a.opened, a.carried = s.begun, s.opened, s.carried
	}
	switch a.outcome {
	case outcomeUnauthorized:
		r.conn.trip(err)
	case outcomeExcessive:
		r.overfed(k, err)
	case outcomeFailed:
		r.conn.doubt()
	case outcomeDone, outcomeCut, outcomeLost, outcomeUnserved, outcomeForbidden:
	}
	r.wait(ctx, k, func() time.Duration {
		if a.outcome != outcomeCut {
			k.failed = err
		}
		return k.afterStream(a)
	})
}

// attempt describes what is over now.
func (r *Runtime) attempt(err error, began time.Time) attempt {
	return attempt{
		outcome: outcomeOf(err), began: began, ended: time.Now(), advised: advised(err), audit: r.cfg.AuditInterval, jitter: jitter(),
	}
}

// wait has the kind's life decide how long to wait, has those told who have to know, and waits.
func (r *Runtime) wait(ctx context.Context, k *kind, decide func() time.Duration) {
	r.mu.Lock()
	length := decide()
	told := r.doubted(k)
	r.mu.Unlock()
	r.conn.tell(urgency.Now, told...)
	r.sleep(ctx, k, length)
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
	if idle || d <= 0 {
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

// unserved notes that the runtime does not know the kind: nothing of it exists, unless a write of ours proved otherwise meanwhile. A kind
// without a stream is looked for again by the audit, or when its CustomResourceDefinition is learned and for some moments after that.
func (r *Runtime) unserved(k *kind, learned uint) {
	r.mu.Lock()
	var told, ready []types.NamespacedName
	if k.learned == learned {
		k.absent, k.problem, k.resource = true, nil, nil
		told, ready = r.replace(k, nil, 0), r.announce()
		k.unknown(r.served.young(k.gk))
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
func (r *Runtime) unread(k *kind, err error) {
	r.mu.RLock()
	known, failures := k.synced, k.lists.failures
	r.mu.RUnlock()
	if known || failures+1 < failuresUntilUnread {
		return
	}
	r.barred(k, &Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be read: %s", k.gk, r.conn.target, cause(err)),
	})
}

// doubted notes whether what is known of a kind may be old, since what should tell it fails, and lists those who have to hear of that. The
// caller holds the lock.
func (r *Runtime) doubted(k *kind) []types.NamespacedName {
	doubtful := k.doubtful(time.Now())
	if doubtful == (k.doubt != nil) {
		return nil
	}
	k.doubt = nil
	if doubtful {
		reason, why := v1beta2.ReasonRuntimeUnreachable, "its stream ends again and again"
		if k.failed != nil {
			why = cause(k.failed)
		}
		if outcomeOf(k.failed) == outcomeForbidden {
			reason = v1beta2.ReasonRuntimeForbidden
		}
		k.doubt = &Problem{
			Reason: reason, Err: k.failed,
			Message: fmt.Sprintf("changes of %s of the %s are noticed late, because it cannot be watched: %s", k.gk, r.conn.target, why),
		}
	}
	return r.trackers(k, needs{})
}
