package revision

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// shares is into how many parts of its deadline the observation of an upgrade is recorded.
	shares = 6
	// shortestShare keeps a short deadline from costing a write every few seconds.
	shortestShare = time.Minute
)

// Observed is for how long one process has observed the revision that is under way. Its zero value has observed nothing.
//
// The deadline of an upgrade is a span of observed time, since nothing is known of a Manifest while the operator is down, or another
// replica has it: it may be ready, or may not even be applied. The law:
//
//  1. Observation begins with the pass that begins the revision, or that finds an obstacle gone which was not the module.
//  2. It is interrupted when a pass does not end with a status that the API server has, and when the process ends or gives the Manifest
//     away. It goes on with the next pass that does.
//  3. Within a process nothing of it is lost. The next process continues from the newest revision's field observed, which is written
//     whenever another sixth of the deadline has passed, but at most once a minute.
//  4. While it is interrupted, nothing is judged.
//
// So each process loses less than such a share. Where all of them live for a share or longer, the verdict comes at the latest when their
// lives add up to twice the deadline, however often the operator is restarted.
type Observed struct {
	number int64
	since  time.Time
	// before is what was observed until from; from is zero while it is interrupted.
	before time.Duration
	from   time.Time
}

// UnderWay returns the newest revision while nothing final became of it; ok is false when there is none.
func UnderWay(history []v1beta2.Revision) (newest v1beta2.Revision, ok bool) {
	if len(history) == 0 {
		return v1beta2.Revision{}, false
	}
	newest = history[len(history)-1]
	return newest, newest.Outcome == "" || newest.Outcome == v1beta2.RevisionFailed
}

// Follow returns the observation after a pass: it found one history and left another. began is when the pass began.
func (o Observed) Follow(found, left []v1beta2.Revision, began time.Time) Observed {
	newest, underWay := UnderWay(left)
	switch {
	case !underWay:
		return Observed{}
	case o.follows(newest) && !o.from.IsZero():
		return o
	case o.follows(newest):
		o.from = began
		return o
	}
	next := Observed{number: newest.Number, since: sinceOf(newest), from: began}
	if before, known := UnderWay(found); known && next.follows(before) {
		next.before = recordedOf(before)
	}
	return next
}

// Interrupt returns the observation after a pass that did not end well, or the last one before a pause.
func (o Observed) Interrupt(now time.Time) Observed {
	if !o.from.IsZero() {
		o.before, o.from = o.before+max(0, now.Sub(o.from)), time.Time{}
	}
	return o
}

// For returns for how long the newest revision of a history was observed; ok is false while that is interrupted.
func (o Observed) For(history []v1beta2.Revision, now time.Time) (observed time.Duration, ok bool) {
	newest, underWay := UnderWay(history)
	if !underWay || o.from.IsZero() || !o.follows(newest) {
		return 0, false
	}
	return o.before + max(0, now.Sub(o.from)), true
}

// follows reports whether the observation is one of a revision.
func (o Observed) follows(r v1beta2.Revision) bool {
	return o.number == r.Number && o.since.Equal(sinceOf(r))
}

func sinceOf(r v1beta2.Revision) time.Time {
	if r.Since == nil {
		return time.Time{}
	}
	return r.Since.Time
}

// Record returns the history with what was observed of its newest revision, where a share of the deadline has passed since that was
// recorded last. wake is after which time there is more to record; zero: never. The history that was passed is not changed.
func Record(history []v1beta2.Revision, observed, deadline time.Duration) (next []v1beta2.Revision, wake time.Duration) {
	newest, underWay := UnderWay(history)
	if !underWay {
		return history, 0
	}
	share := max(shortestShare, deadline/shares)
	due, last := recordedOf(newest)+share, deadline-share/2 // close to the deadline a record is no use: it is judged there
	if observed >= due && due <= last {
		next = slices.Clone(history)
		next[len(next)-1].Observed = &metav1.Duration{Duration: observed.Truncate(time.Second)}
		history, due = next, observed.Truncate(time.Second)+share
	}
	if due > last {
		return history, 0
	}
	return history, due - observed
}

// Recorded returns for how long the newest revision of a history was observed, as far as the history says.
func Recorded(history []v1beta2.Revision) time.Duration {
	newest, _ := UnderWay(history)
	return recordedOf(newest)
}

func recordedOf(r v1beta2.Revision) time.Duration {
	if r.Observed == nil {
		return 0
	}
	return r.Observed.Duration
}
