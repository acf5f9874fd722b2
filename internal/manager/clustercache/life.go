package clustercache

import (
	"errors"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Back-offs of one kind, while the runtime as a whole is up.
const (
	firstPause     = 200 * time.Millisecond
	lastPause      = time.Minute
	firstAbsent    = time.Second
	firstForbidden = 4 * time.Second
	lastForbidden  = 45 * time.Second // rights are given by users, who want to see that it helped
	steady         = 30 * time.Second // a stream that lived this long has earned a fresh start
	minStreamLife  = 5 * time.Second  // one that lived this long, or told anything, has told what happened before it
	longestDoubt   = time.Minute      // what is known of a kind may be that old, then it is listed, and its owners hear of it

	failuresUntilUnread = 5 // some 5 s of lists that fail are more than a blip
)

// pause is the back-off of one kind.
type pause struct {
	failures int
	since    time.Time // when the first failure began that leaves what is known in doubt; zero while there is none
}

// next returns the time to wait after one more failure. jitter spreads half of it.
func (p *pause) next(first, last time.Duration, jitter float64) time.Duration {
	d := last
	if p.failures < 20 {
		d = min(first<<p.failures, last)
	}
	p.failures++
	return d/2 + time.Duration(jitter*float64(d/2))
}

// doubt records a failure that makes the cached state doubtful.
func (p *pause) noteFailure(since time.Time) {
	if p.since.IsZero() {
		p.since = since
	}
}

// life decides what is done next for a kind of a runtime, and after which pause. It is plain data: the caller provides the time, the
// randomness and the lock. Three invariants always hold (relist_test.go):
//   - No loop runs without a pause.
//   - No watched kind remains unread for longer than an audit interval, or than some minutes where its stream is known to fail.
//   - Every doubt about the cached state ends in a list.
type life struct {
	watched bool // has a stream, or shall have one
	due     bool // must be listed
	listed  bool // there is a version to watch from
	fresh   bool // the runtime has recovered since, or the kind's definition was established

	asked, answering uint      // how often a list was requested, and which of them the list answers that is under way
	sighted          time.Time // when what is known was whole last, by a list or a stream

	lists, streams, expiries pause
}

// step is the next action for a kind.
type step int

const (
	stepNone  step = iota // nothing: its goroutine ends
	stepList              // list it
	stepWatch             // open its stream
)

// next returns the next action. A kind without a resourceVersion to watch from is listed first, even if it already has a stream.
func (l *life) next(now time.Time) step {
	if l.fresh { // what failed because of an outage says nothing of what comes, and an outage is told by itself
		*l = life{watched: l.watched, due: l.due, listed: l.listed, asked: l.asked, sighted: now}
	}
	switch {
	case l.due, l.watched && !l.listed:
		l.answering = l.asked
		return stepList
	case l.watched:
		return stepWatch
	}
	return stepNone
}

// ask requests a list; one in progress is too old for that.
func (l *life) requestList() {
	l.due = true
	l.asked++
}

// noteListed records that a list was stored.
func (l *life) noteListed(now time.Time) {
	l.listed, l.due = true, l.asked != l.answering
	l.lists, l.sighted = pause{}, now
}

// noteUnknown records that there is no version to watch from: a watched kind is listed first, any other by the next audit.
func (l *life) noteUnknown(soon bool) {
	l.listed, l.due = false, l.watched || soon
	l.lists.since, l.streams.since = time.Time{}, time.Time{} // why nothing is known is told by itself
}

// noteStream records that a stream shows the current state.
func (l *life) noteStream(now time.Time) {
	l.streams.since = time.Time{}
	l.sighted = now
}

// doubtful reports whether the cached state of the kind may be older than longestDoubt, because its lists or streams fail.
func (l *life) doubtful(now time.Time) bool {
	overdue := func(p pause) bool { return !p.since.IsZero() && now.Sub(p.since) >= longestDoubt }
	return overdue(l.lists) || l.watched && overdue(l.streams)
}

// outcome is how a list or a stream ended.
type outcome int

const (
	outcomeDone outcome = iota // a list is whole; a stream was ended by the server, in order
	outcomeCut                 // ended by us, or overtaken by what is wanted now
	outcomeLost                // a stream cannot be resumed, or did not tell something that happened
	outcomeUnserved
	outcomeUnauthorized
	outcomeExcessive
	outcomeForbidden
	outcomeFailed
)

// outcomeOf classifies the end of a list or a stream.
func outcomeOf(err error) outcome {
	switch class := apply.Classify(err); {
	case err == nil:
		return outcomeDone
	case errors.Is(err, errCut), errors.Is(err, errAgain):
		return outcomeCut
	case errors.Is(err, errExpired), errors.Is(err, errMissed):
		return outcomeLost
	case class == apply.ClassKindUnknown:
		return outcomeUnserved
	case class == apply.ClassUnauthorized:
		return outcomeUnauthorized
	case errors.Is(err, wire.ErrTooLarge), errors.Is(err, errTooMuch): // more than is read or kept
		return outcomeExcessive
	case class == apply.ClassForbidden:
		return outcomeForbidden
	}
	return outcomeFailed
}

// attempt describes a finished list or stream.
type attempt struct {
	outcome
	began, ended time.Time
	opened       time.Time     // a stream: when it came up, zero when it did not
	carried      bool          // a stream: it told something
	young        bool          // a list: the kind's definition was learned moments ago
	advised      time.Duration // the pause that the server asks for
	audit        time.Duration // the longest pause there is
	jitter       float64
}

// afterList returns the pause after a list.
func (l *life) afterList(a attempt) time.Duration {
	p := &l.lists
	switch a.outcome {
	case outcomeDone, outcomeCut:
		return 0
	case outcomeUnauthorized: // the breaker has its own pause, which ends this one
		return new(pause).next(firstPause, firstPause, a.jitter)
	case outcomeUnserved:
		if a.young { // an attempt that comes too early is no failure
			return new(pause).next(firstPause, firstPause, a.jitter)
		}
		return p.next(firstAbsent, a.audit, a.jitter)
	case outcomeExcessive:
		return p.next(firstForbidden, a.audit, a.jitter)
	case outcomeForbidden:
		return p.next(firstForbidden, min(lastForbidden, a.audit), a.jitter)
	case outcomeLost, outcomeFailed:
	}
	p.noteFailure(a.began)
	return max(p.next(firstPause, lastPause, a.jitter), a.advised)
}

// afterStream returns the pause after a stream. One that ends on time is resumed at once; one that ends early, even properly, is not, or a
// broken proxy would have us call without pause. A lost one is listed at once, however often streams ended before: an API server
// that starts ends them for a while, and the loss shows that it is ready again.
func (l *life) afterStream(a attempt) time.Duration {
	var lived time.Duration // without the time that it took to come up
	if !a.opened.IsZero() {
		lived = a.ended.Sub(a.opened)
	}
	if lived > steady {
		l.streams, l.expiries = pause{}, pause{}
	}
	showed := a.carried || lived >= minStreamLife
	if showed {
		l.noteStream(a.ended)
	}
	if a.outcome == outcomeCut {
		if l.next(a.ended) == stepWatch { // or cuts without a reason would have us call without pause
			return new(pause).next(firstPause, firstPause, a.jitter)
		}
		return 0
	}
	length := l.ended(a)
	if !showed && a.outcome != outcomeUnauthorized {
		l.streams.noteFailure(a.began)
	}
	if l.watched && a.ended.Sub(l.sighted) >= longestDoubt {
		l.requestList()
	}
	return length
}

// ended returns the pause after a stream that was not cut.
func (l *life) ended(a attempt) time.Duration {
	p := &l.streams
	switch a.outcome {
	case outcomeUnauthorized:
		return new(pause).next(firstPause, firstPause, a.jitter)
	case outcomeLost, outcomeUnserved:
		l.requestList()
		if p = &l.expiries; p.failures == 0 {
			p.failures++
			return 0
		}
	case outcomeExcessive:
		return p.next(firstForbidden, a.audit, a.jitter)
	case outcomeForbidden:
		l.requestList()
		return p.next(firstForbidden, min(lastForbidden, a.audit), a.jitter)
	case outcomeDone:
		if p.failures == 0 {
			p.failures++
			return 0
		}
	case outcomeCut, outcomeFailed:
	}
	return max(p.next(firstPause, lastPause, a.jitter), a.advised)
}
