package clustercache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// errCut means that a stream was ended on purpose.
var errCut = errors.New("the stream was cut")

// errExpired means that the stream cannot be resumed: the kind must be listed again.
var errExpired = errors.New("the resource version is too old to watch from")

// errMissed means that an event of the stream was not read: the kind must be listed again.
var errMissed = errors.New("an event was lost")

// listAndWatch is the goroutine of one kind: it lists, then watches from there, as long as the kind has a stream. The kind's life decides
// each next step. It returns when a stream was handed over, and resumeListAndWatch continues when that one ends.
func (r *Runtime) listAndWatch(ctx context.Context, k *kind) {
	for ctx.Err() == nil && !r.stopIfIdle(k) {
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

// next returns the next step of the kind, and how many objects of the kind our writes have returned so far.
func (r *Runtime) next(k *kind) (s step, learned uint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return k.next(time.Now()), k.learned
}

// retryKinds makes all waiting kinds try again: what failed because of an outage may succeed after it.
func (r *Runtime) retryKinds() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kinds {
		k.fresh = true
		k.interruptBackoff()
	}
}

// resumeListAndWatch continues after a handed-over stream has ended.
func (r *Runtime) resumeListAndWatch(ctx context.Context, k *kind, s *stream, err error) {
	r.afterStream(ctx, k, s, err)
	r.listAndWatch(ctx, k)
}

// afterList handles the end of a list, and waits before the next step.
func (r *Runtime) afterList(ctx context.Context, k *kind, begun time.Time, learned uint, err error) {
	if ctx.Err() != nil {
		return
	}
	a := r.attempt(err, begun)
	a.young = r.served.isWarmingUp(k.gk)
	switch a.outcome {
	case outcomeUnauthorized:
		r.conn.openBreaker(err)
	case outcomeUnserved:
		r.unserved(k, learned)
	case outcomeExcessive:
		r.markOversized(k, err)
	case outcomeForbidden:
		r.forbidden(k, err)
	case outcomeFailed, outcomeLost:
		r.conn.suspect()
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

// afterStream does the same for a stream; s is nil when none was needed any more.
func (r *Runtime) afterStream(ctx context.Context, k *kind, s *stream, err error) {
	if ctx.Err() != nil {
		return
	}
	a := r.attempt(err, time.Now())
	if a.outcome != outcomeCut {
		r.checkVersion()
	}
	if s != nil {
		a.began, a.opened, a.carried = s.begun, s.opened, s.carried
	}
	switch a.outcome {
	case outcomeUnauthorized:
		r.conn.openBreaker(err)
	case outcomeExcessive:
		r.markOversized(k, err)
	case outcomeFailed:
		r.conn.suspect()
	case outcomeDone, outcomeCut, outcomeLost, outcomeUnserved, outcomeForbidden:
	}
	r.wait(ctx, k, func() time.Duration {
		if a.outcome != outcomeCut {
			k.failed = err
		}
		return k.afterStream(a)
	})
}

// attempt describes a list or stream that ends now.
func (r *Runtime) attempt(err error, began time.Time) attempt {
	return attempt{
		outcome: outcomeOf(err), began: began, ended: time.Now(), advised: advised(err), audit: r.cfg.AuditInterval, jitter: jitter(),
	}
}

// wait gets the pause from the kind's life, enqueues the owners if the kind has become doubtful or certain, and sleeps.
func (r *Runtime) wait(ctx context.Context, k *kind, decide func() time.Duration) {
	r.mu.Lock()
	length := decide()
	told := r.markDoubtedLocked(k)
	r.mu.Unlock()
	r.conn.tell(priority.Now, told...)
	r.sleep(ctx, k, length)
}

// advised returns how long the API server asks clients to wait. It suggests a second while it fills its cache of a kind, which takes
// milliseconds where the kind is new; our own back-off is enough then.
func advised(err error) time.Duration {
	if apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), "storage is (re)initializing") {
		return 0
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		return min(time.Duration(seconds)*time.Second, lastPause)
	}
	return 0
}

// sleep waits, unless an event makes another attempt worthwhile.
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

// unserved records that the runtime does not serve the kind: no objects exist, unless our own write proved otherwise meanwhile. A kind
// without a stream is checked again by the audit, or when its CustomResourceDefinition is observed and for some moments after that.
func (r *Runtime) unserved(k *kind, learned uint) {
	r.mu.Lock()
	var told, ready []types.NamespacedName
	if k.learned == learned {
		k.absent, k.problem, k.resource = true, nil, nil
		told, ready = r.replaceObjectsLocked(k, nil, 0), r.settledOwnersLocked()
		k.noteUnknown(r.served.isWarmingUp(k.gk))
		r.assignStreamsLocked()
	}
	r.mu.Unlock()
	r.conn.tellOnce(told, ready)
}

// forbidden records that the kind cannot be read. What was known of it stays.
func (r *Runtime) forbidden(k *kind, err error) {
	r.markUnreadable(k, &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeForbidden, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be watched: %s", k.gk, r.conn.target, cause(err)),
	})
}

// unread records why a kind is not known, when a server that is up fails to list it for longer than a blip. A kind that was listed before
// stays unchanged.
func (r *Runtime) unread(k *kind, err error) {
	r.mu.RLock()
	known, failures := k.synced, k.lists.failures
	r.mu.RUnlock()
	if known || failures+1 < failuresUntilUnread {
		return
	}
	r.markUnreadable(k, &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be read: %s", k.gk, r.conn.target, cause(err)),
	})
}

// markDoubtedLocked records whether the kind's cached state may be outdated, because lists or streams fail, and returns the owners to
// enqueue when that changed. The caller holds the lock.
func (r *Runtime) markDoubtedLocked(k *kind) []types.NamespacedName {
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
		k.doubt = &runtimes.Problem{
			Reason: reason, Err: k.failed,
			Message: fmt.Sprintf("changes of %s of the %s are noticed late, because it cannot be watched: %s", k.gk, r.conn.target, why),
		}
	}
	return r.trackingOwnersLocked(k, readLevel{})
}
