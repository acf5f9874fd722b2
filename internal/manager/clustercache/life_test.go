package clustercache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

func TestOutcomeOf(t *testing.T) {
	things := schema.GroupResource{Resource: "things"}
	for _, test := range []struct {
		name string
		err  error
		want outcome
	}{
		{"in order", nil, outcomeDone},
		{"by us", errCut, outcomeCut},
		{"as another wish came", errAgain, outcomeCut},
		{"too old to go on from", fmt.Errorf("%w: gone", errExpired), outcomeLost},
		{"with an event that was not read", fmt.Errorf("%w: odd", errMissed), outcomeLost},
		{"since the kind is not served", &apply.UnknownKindError{}, outcomeUnserved},
		{"without accepted credentials", apierrors.NewUnauthorized("no"), outcomeUnauthorized},
		{"with more than is read", fmt.Errorf("a page: %w", wire.ErrTooLarge), outcomeExcessive},
		{"with more than is kept", errTooMuch, outcomeExcessive},
		{"without the right to", apierrors.NewForbidden(things, "", errors.New("no")), outcomeForbidden},
		{"by a failure of the server", apierrors.NewInternalError(errors.New("oh")), outcomeFailed},
		{"by the network", errors.New("connection reset by peer"), outcomeFailed},
	} {
		if got := outcomeOf(test.err); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// A stream proves its state by its events, or by staying open; not by the time it takes to open.
func TestLife_LateFailingStreamShowsNothing(t *testing.T) {
	l, now := life{watched: true, listed: true, sighted: time.Unix(0, 0)}, time.Unix(1_000_000, 0)
	late := now.Add(steady + time.Minute)
	l.afterStream(attempt{outcome: outcomeLost, began: now, opened: late, ended: late, audit: time.Hour})
	if l.streams.since != now || l.expiries.failures != 1 {
		t.Errorf("in doubt since %s after %d failures, want since %s after one", l.streams.since, l.expiries.failures, now)
	}
}

// However lists and streams end, only a few of them follow each other without a pause; and between two lists, the state of a watched kind
// is never in doubt for longer than allowed.
func TestLife_KeepsPauses(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		l, now := life{due: true, watched: true}, time.Unix(1_000_000, 0)
		row, unseen := 0, now
		for range 400 {
			if rnd.IntN(20) == 0 { // the streams are given to others, or come back
				l.watched, row = rnd.IntN(3) > 0, 0
			}
			if rnd.IntN(40) == 0 {
				l.fresh, row = true, 0
				unseen = now
			}
			a := attempt{outcome: outcome(rnd.IntN(int(outcomeFailed) + 1)), began: now, audit: time.Hour, jitter: rnd.Float64()}
			var length time.Duration
			switch l.next(now) {
			case stepNone:
				l.watched, row = true, 0
				continue
			case stepList:
				now = now.Add(time.Duration(rnd.Int64N(int64(time.Second))))
				a.ended = now
				switch a.outcome {
				case outcomeDone:
					l.noteListed(now)
					unseen = now
				case outcomeLost, outcomeCut: // a list is cut only when it is wanted otherwise, which happens once in a while
					a.outcome = outcomeFailed
				case outcomeUnserved, outcomeExcessive, outcomeForbidden:
					l.noteUnknown(false)
				case outcomeUnauthorized, outcomeFailed:
				}
				length = l.afterList(a)
			case stepWatch:
				if !l.listed || l.due {
					t.Fatalf("seed %d: watched without a version to watch from", seed)
				}
				if now.Sub(unseen) > longestDoubt+lastPause+time.Minute {
					t.Fatalf("seed %d: unseen for %s, and not to be listed", seed, now.Sub(unseen))
				}
				now = now.Add(time.Duration(rnd.Int64N(int64(2 * time.Second))))
				if rnd.IntN(2) == 0 {
					a.opened = now
				}
				if !a.opened.IsZero() && rnd.IntN(4) == 0 {
					now, a.carried = now.Add(time.Hour), true
				}
				a.ended = now
				if a.carried {
					unseen = now
				}
				if a.outcome == outcomeExcessive {
					l.noteUnknown(false)
				}
				if length = l.afterStream(a); a.outcome != outcomeCut && a.outcome > outcomeDone && !a.carried && length == 0 && !l.due {
					t.Fatalf("seed %d: goes on at once after %d", seed, a.outcome)
				}
				if (a.outcome == outcomeLost || a.outcome == outcomeUnserved) && l.watched && l.next(now) != stepList {
					t.Fatalf("seed %d: a doubt that does not end in a list", seed)
				}
			}
			if row++; length > 0 || a.carried {
				row, now = 0, now.Add(length)
			}
			if row > 4 {
				t.Fatalf("seed %d: %d in a row without a pause", seed, row)
			}
		}
	}
}
