package waitfor

import (
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// follower reports changed lines and decides when the wait is over.
type follower struct {
	ask      Options
	report   func(Progress)
	seen     seen
	told     map[string]Progress
	last     []verdict
	patience *patience
}

// look judges the latest observation, reports new lines, and returns whether the wait is over. patient means that nothing changed for a
// while.
func (f *follower) look(patient bool) bool {
	if !f.seen.looked {
		return false
	}
	if f.ask.Generation == 0 && f.seen.kyma != nil {
		f.ask.Generation = f.seen.kyma.Generation
	}
	f.last = judge(f.ask, f.seen)
	moved := false
	for _, v := range f.last {
		if before, known := f.told[v.line.Key]; known && before == v.line {
			continue
		}
		moved = true
		f.told[v.line.Key] = v.line
		if f.report != nil {
			f.report(v.line)
		}
	}
	if moved {
		f.patience.restart()
		patient = false
	}
	return !slices.ContainsFunc(f.last, func(v verdict) bool { return !f.over(v, patient) })
}

// over reports whether the wait for one line is over.
func (f *follower) over(v verdict, patient bool) bool {
	switch v.end {
	case endNow:
		stale := f.ask.Again && (v.line.State == v1beta2.StateError || v.line.State == v1beta2.StateWarning)
		return patient || !stale
	case endPatient:
		return patient && (v.line.State == v1beta2.StateWarning || f.ask.Patience > 0)
	default:
		return false
	}
}

// outcome sums up the last verdicts.
func (f *follower) outcome(timedOut bool) Outcome {
	outcome := Outcome{State: v1beta2.StateReady, TimedOut: timedOut}
	if len(f.last) == 0 {
		outcome.State = v1beta2.StateProcessing
	}
	for _, v := range f.last {
		outcome.Lines = append(outcome.Lines, v.line)
		if severity(v.line.State) > severity(outcome.State) {
			outcome.State = v.line.State
		}
	}
	return outcome
}

// severity orders states as they are, and what is gone as if it were Ready.
func severity(state v1beta2.State) int {
	if state == StateGone {
		return 0
	}
	return state.Severity()
}

// patience is the timer for problems that may pass by themselves; nil is one that another clock replaces.
type patience struct {
	duration time.Duration
	timer    *time.Timer
}

func newPatience(duration time.Duration) *patience {
	if duration <= 0 {
		duration = settled
	}
	return &patience{duration: duration, timer: time.NewTimer(duration)}
}

func (p *patience) over() <-chan time.Time { return p.timer.C }
func (p *patience) stop()                  { p.timer.Stop() }

func (p *patience) restart() {
	if p != nil {
		p.timer.Reset(p.duration)
	}
}
