package module

import (
	"cmp"
	"regexp"
	"slices"
	"time"
)

// Labels of a Kyma that a rule of the policy matches.
const (
	labelGlobalAccount  = "kyma-project.io/global-account-id"
	labelPlan           = "kyma-project.io/broker-plan-name"
	labelRegion         = "kyma-project.io/region"
	labelPlatformRegion = "kyma-project.io/platform-region"
)

// lookahead is the number of days for which occurrences of a weekly window are computed: today in every time zone, and a whole week after
// it.
const lookahead = 9

// WindowPolicy defines when upgrades with downtime may start.
type WindowPolicy struct {
	// Rules in their order; only the first that matches a Kyma counts.
	Rules []WindowRule
	// Default windows are for a Kyma that no rule matches, or whose rule has no window left.
	Default []Window
	// MinRemaining is the part of a window that must be left for an upgrade to start in it.
	MinRemaining time.Duration
}

// WindowRule gives windows to the Kymas that it matches.
type WindowRule struct {
	Match   WindowMatch
	Windows []Window
}

// WindowMatch holds one expression for each label of a Kyma; nil matches nothing.
type WindowMatch struct{ GlobalAccountID, Plan, Region, PlatformRegion *regexp.Regexp }

// Window is a time in which upgrades may start.
type Window struct {
	// Days are the weekdays on which it begins. Without any, Begin and End are points in time, and the window occurs once.
	Days []time.Weekday
	// Begin and End: with Days, only their time of day and offset count. A window that does not end later than it begins ends the next day.
	Begin, End time.Time
}

// span is one occurrence of a window.
type span struct{ begin, end time.Time }

// NextWindow reports whether a Kyma with these labels may start an upgrade with downtime now, and otherwise when it may next. known is
// false when there is no policy or when it defines no window for this Kyma.
//
//  1. The first rule counts that has an expression which matches its label; a label that is empty or absent never matches.
//  2. When no rule matches, or the windows of that rule are all over or too short, those of Default count.
//  3. Windows that touch or overlap are one. The rest of an open window, and the whole of a later one, must last at least MinRemaining.
func NextWindow(policy *WindowPolicy, labels map[string]string, now time.Time) (open bool, opens time.Time, known bool) {
	if policy == nil {
		return false, time.Time{}, false
	}
	at := slices.IndexFunc(policy.Rules, func(r WindowRule) bool { return r.Match.matches(labels) })
	if at >= 0 {
		if open, opens, known = nextSpan(policy.Rules[at].Windows, now, policy.MinRemaining); known {
			return open, opens, known
		}
	}
	return nextSpan(policy.Default, now, policy.MinRemaining)
}

// matches reports whether one of the expressions matches its label.
func (m WindowMatch) matches(labels map[string]string) bool {
	found := func(expression *regexp.Regexp, label string) bool {
		value := labels[label]
		return expression != nil && value != "" && expression.MatchString(value)
	}
	return found(m.GlobalAccountID, labelGlobalAccount) || found(m.Plan, labelPlan) ||
		found(m.Region, labelRegion) || found(m.PlatformRegion, labelPlatformRegion)
}

// nextSpan returns the first span from now on that is long enough.
func nextSpan(windows []Window, now time.Time, least time.Duration) (open bool, opens time.Time, known bool) {
	for _, one := range spans(windows, now) {
		from := one.begin
		if from.Before(now) {
			from = now
		}
		if one.end.After(from) && one.end.Sub(from) >= least {
			return !one.begin.After(now), one.begin.UTC(), true
		}
	}
	return false, time.Time{}, false
}

// spans returns the occurrences of the windows around now, in order; those that touch or overlap are joined.
func spans(windows []Window, now time.Time) []span {
	var all []span
	for _, window := range windows {
		all = append(all, window.spans(now)...)
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(a.begin.Compare(b.begin), a.end.Compare(b.end)) })
	var joined []span
	for _, one := range all {
		if last := len(joined) - 1; last >= 0 && !one.begin.After(joined[last].end) {
			if one.end.After(joined[last].end) {
				joined[last].end = one.end
			}
			continue
		}
		joined = append(joined, one)
	}
	return joined
}

// spans returns the occurrences of one window that may matter now. Weekdays are those in the window's own offset.
func (w Window) spans(now time.Time) []span {
	if len(w.Days) == 0 {
		return []span{{w.Begin, w.End}}
	}
	var found []span
	today := now.In(fixed(w.Begin))
	for day := -2; day <= lookahead; day++ {
		begin := onDay(today, day, w.Begin)
		if !slices.Contains(w.Days, begin.Weekday()) {
			continue
		}
		end := onDay(today, day, w.End)
		for !end.After(begin) {
			end = end.Add(24 * time.Hour)
		}
		for end.Sub(begin) > 24*time.Hour {
			end = end.Add(-24 * time.Hour)
		}
		found = append(found, span{begin, end})
	}
	return found
}

// onDay returns the clock's time of day and offset on the given number of days after a date.
func onDay(date time.Time, days int, clock time.Time) time.Time {
	return time.Date(date.Year(), date.Month(), date.Day()+days, clock.Hour(), clock.Minute(), clock.Second(), 0, fixed(clock))
}

// fixed returns the offset of a time without the rules of its location: the machine's own time zone must not move a window.
func fixed(t time.Time) *time.Location {
	_, offset := t.Zone()
	return time.FixedZone("", offset)
}

// NextWake returns the time until the first module that waits for a window, for the deadline of its upgrade or for that of its consent must
// be reconciled; zero when none does.
func NextWake(verdicts []Verdict, now time.Time) time.Duration {
	var wake time.Duration
	for i := range verdicts {
		for _, at := range []time.Time{verdicts[i].WakeAt, verdicts[i].Deadline, verdicts[i].ForceAt} {
			if at.IsZero() {
				continue
			}
			// The pause must be positive, even when the clock has passed the time in the meantime: zero means never.
			pause := max(at.Sub(now), time.Millisecond)
			if wake == 0 || pause < wake {
				wake = pause
			}
		}
	}
	return wake
}
