package revision

import (
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var observedStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(by time.Duration) time.Time { return observedStart.Add(by) }

// underWay returns a history with one revision that is under way.
func underWay(edits ...func(*v1beta2.Revision)) []v1beta2.Revision {
	one := v1beta2.Revision{Number: 2, Version: "2.0.0", At: metav1.NewTime(observedStart)}
	for _, edit := range edits {
		edit(&one)
	}
	return []v1beta2.Revision{{Number: 1, Outcome: v1beta2.RevisionSucceeded}, one}
}

func recorded(observed time.Duration) func(*v1beta2.Revision) {
	return func(r *v1beta2.Revision) { r.Observed = &metav1.Duration{Duration: observed} }
}

func cleared(at time.Duration) func(*v1beta2.Revision) {
	return func(r *v1beta2.Revision) { r.Since = &metav1.Time{Time: after(at)} }
}

func ending(outcome v1beta2.RevisionOutcome) func(*v1beta2.Revision) {
	return func(r *v1beta2.Revision) { r.Outcome = outcome }
}

func TestObserved_CountsOnlyWhatAProcessSaw(t *testing.T) {
	const hour = time.Hour
	before := underWay()[:1]
	begun := Observed{}.Follow(before, underWay(), after(0))
	for _, test := range []struct {
		name     string
		observed Observed
		history  []v1beta2.Revision
		want     time.Duration
		ok       bool
	}{
		{"nothing was looked at", Observed{}, underWay(), 0, false},
		{"a pass that begins it sees it from then on", begun, underWay(), hour, true},
		{"further passes change nothing", begun.Follow(underWay(), underWay(), after(20*time.Minute)), underWay(), hour, true},
		{"a failure is no end of it", begun.Follow(underWay(), underWay(ending("Failed")), after(20*time.Minute)), underWay(ending("Failed")), hour, true},
		{"what succeeded is not judged any more", begun.Follow(underWay(), underWay(ending("Succeeded")), after(0)), underWay(ending("Succeeded")), 0, false},
		{"a cache that shows another revision is not judged", begun, before, 0, false},
		{"a process that finds it begins anew", Observed{}.Follow(underWay(), underWay(), after(50*time.Minute)), underWay(), 10 * time.Minute, true},
		{"it continues from what is recorded", Observed{}.Follow(underWay(recorded(15*time.Minute)), underWay(recorded(15*time.Minute)), after(50*time.Minute)), underWay(), 25 * time.Minute, true},
		{"what is recorded meanwhile counts once", begun.Follow(underWay(), underWay(recorded(15*time.Minute)), after(15*time.Minute)), underWay(recorded(15 * time.Minute)), hour, true},
		{"an obstacle that goes away begins it anew", begun.Follow(underWay(), underWay(cleared(40*time.Minute)), after(40*time.Minute)), underWay(cleared(40 * time.Minute)), 20 * time.Minute, true},
		{"until a cache shows that, nothing is judged", begun.Follow(underWay(), underWay(cleared(40*time.Minute)), after(40*time.Minute)), underWay(), 0, false},
		{"a pass that does not end well interrupts it", begun.Interrupt(after(10 * time.Minute)), underWay(), 0, false},
		{"once more changes nothing", begun.Interrupt(after(10*time.Minute)).Interrupt(after(30*time.Minute)).Follow(underWay(), underWay(), after(55*time.Minute)), underWay(), 15 * time.Minute, true},
		{"the next good pass continues it, without the time between", begun.Interrupt(after(10*time.Minute)).Follow(underWay(), underWay(), after(50*time.Minute)), underWay(), 20 * time.Minute, true},
		{"the next revision begins anew", begun.Follow(underWay(), underWay(func(r *v1beta2.Revision) { r.Number = 3 }), after(50*time.Minute)), underWay(func(r *v1beta2.Revision) { r.Number = 3 }), 10 * time.Minute, true},
		{"a clock that was set back takes nothing away", Observed{}.Follow(before, underWay(), after(2*hour)), underWay(), 0, true},
		{"a Manifest without revisions has none under way", begun.Follow(underWay(), nil, after(0)), nil, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := test.observed.For(test.history, after(hour)); got != test.want || ok != test.ok {
				t.Errorf("observed for %s, %v; want %s, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestRecord_WritesAFewTimesInAnUpgrade(t *testing.T) {
	const half = 30 * time.Minute
	for _, test := range []struct {
		name               string
		history            []v1beta2.Revision
		observed, deadline time.Duration
		want, wake         time.Duration
	}{
		{"before a sixth has passed there is nothing to write", underWay(), 4 * time.Minute, half, 0, time.Minute},
		{"then it is written", underWay(), 5*time.Minute + 300*time.Millisecond, half, 5 * time.Minute, 5*time.Minute - 300*time.Millisecond},
		{"a late pass writes what it has", underWay(recorded(5 * time.Minute)), 17 * time.Minute, half, 17 * time.Minute, 5 * time.Minute},
		{"not at the deadline, when it is judged", underWay(recorded(25 * time.Minute)), 40 * time.Minute, half, 25 * time.Minute, 0},
		{"a short deadline is not worth a write", underWay(), 50 * time.Second, time.Minute, 0, 0},
		{"nor more than one a minute", underWay(), 30 * time.Second, 3 * time.Minute, 0, 30 * time.Second},
		{"what has ended is not recorded", underWay(ending("Succeeded")), 10 * time.Minute, half, 0, 0},
		{"nothing is not recorded", nil, 10 * time.Minute, half, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			had := len(test.history) > 0 && test.history[len(test.history)-1].Observed != nil
			next, wake := Record(test.history, test.observed, test.deadline)
			var got time.Duration
			if len(next) > 0 {
				got = recordedOf(next[len(next)-1])
			}
			if got != test.want || wake != test.wake {
				t.Errorf("recorded %s, looks again after %s; want %s, %s", got, wake, test.want, test.wake)
			}
			if len(test.history) > 0 && !had && test.history[len(test.history)-1].Observed != nil {
				t.Error("the history that was passed is changed")
			}
		})
	}
}

// TestObserved_RestartsNeitherHurryNorPostponeForEver lets a process look at a revision that is never ready, die after a random time, and
// the next one begin after an outage of up to hours.
func TestObserved_RestartsNeitherHurryNorPostponeForEver(t *testing.T) {
	for seed := range uint64(500) {
		dice := rand.New(rand.NewPCG(seed, 26))
		deadline := time.Duration(10+dice.IntN(7200)) * time.Second
		share := max(shortestShare, deadline/shares)
		history, now, lived, writes := underWay(), observedStart, time.Duration(0), 0
		found := history[:1]
		for judged := false; !judged; {
			life := share + time.Duration(dice.Int64N(int64(deadline)))
			began, process := now, Observed{}
			for at := time.Duration(0); at < life && !judged; {
				process = process.Follow(found, history, began.Add(at))
				observed, ok := process.For(history, began.Add(at))
				if !ok || observed > lived+at {
					t.Fatalf("seed %d: observed %s (%v) in %s of life", seed, observed, ok, lived+at)
				}
				judged = observed >= deadline
				next, wake := Record(history, observed, deadline)
				if recordedOf(next[1]) != recordedOf(history[1]) {
					writes++
				}
				found, history = next, next
				if wake == 0 {
					wake = max(time.Second, deadline-observed)
				}
				at += min(wake, time.Second+time.Duration(dice.Int64N(int64(share))))
			}
			lived += life
			now = began.Add(life + time.Duration(dice.Int64N(int64(6*time.Hour))))
			if lived > 2*deadline+life && !judged {
				t.Fatalf("seed %d: after %s of life a deadline of %s was not judged", seed, lived, deadline)
			}
		}
		if writes >= shares {
			t.Errorf("seed %d: %d writes for one upgrade", seed, writes)
		}
	}
}
