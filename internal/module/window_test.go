package module

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// at parses a time; 2026-03-01 is a Sunday.
func at(t *testing.T, written string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, written)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// weekly returns a window on the given days, with times such as "21:00:00+02:00".
func weekly(t *testing.T, begin, end string, days ...time.Weekday) Window {
	t.Helper()
	return Window{Days: days, Begin: at(t, "2000-01-01T"+begin), End: at(t, "2000-01-01T"+end)}
}

var wholeWeek = []time.Weekday{0, 1, 2, 3, 4, 5, 6}

func TestNextWindow(t *testing.T) {
	const sun, mon, wed, sat = time.Sunday, time.Monday, time.Wednesday, time.Saturday
	trial := WindowMatch{Plan: regexp.MustCompile("trial|free")}
	europe := WindowMatch{Region: regexp.MustCompile("^eu-"), PlatformRegion: regexp.MustCompile("^cf-eu")}
	always := weekly(t, "00:00:00Z", "00:00:00Z", wholeWeek...)
	for _, test := range []struct {
		name   string
		policy *WindowPolicy
		labels map[string]string
		now    string
		want   string // "open", the time at which it opens, or "unknown"
	}{
		{"no policy", nil, nil, "2026-03-01T12:00:00Z", "unknown"},
		{"a policy without windows", &WindowPolicy{}, nil, "2026-03-01T12:00:00Z", "unknown"},
		{"later today", &WindowPolicy{Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sun)}}, nil, "2026-03-01T12:00:00Z", "2026-03-01T21:00:00Z"},
		{"at its first moment", &WindowPolicy{Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sun)}}, nil, "2026-03-01T21:00:00Z", "open"},
		{"at its last moment, a week too late", &WindowPolicy{Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sun)}}, nil, "2026-03-01T23:00:00Z", "2026-03-08T21:00:00Z"},
		{"on another weekday", &WindowPolicy{Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", wed)}}, nil, "2026-03-01T12:00:00Z", "2026-03-04T21:00:00Z"},
		{"the soonest of several days", &WindowPolicy{Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sat, wed)}}, nil, "2026-03-05T00:00:00Z", "2026-03-07T21:00:00Z"},
		{"the soonest of several windows, in whatever order", &WindowPolicy{Default: []Window{
			weekly(t, "21:00:00Z", "23:00:00Z", sat), weekly(t, "04:00:00Z", "05:00:00Z", mon),
		}}, nil, "2026-03-01T12:00:00Z", "2026-03-02T04:00:00Z"},
		{"across midnight, before it", &WindowPolicy{Default: []Window{weekly(t, "22:00:00Z", "02:00:00Z", sun)}}, nil, "2026-03-01T23:00:00Z", "open"},
		{"across midnight, after it", &WindowPolicy{Default: []Window{weekly(t, "22:00:00Z", "02:00:00Z", sun)}}, nil, "2026-03-02T01:00:00Z", "open"},
		{"across midnight, the night before it", &WindowPolicy{Default: []Window{weekly(t, "22:00:00Z", "02:00:00Z", sun)}}, nil, "2026-03-01T01:00:00Z", "2026-03-01T22:00:00Z"},
		{"equal times are a whole day", &WindowPolicy{Default: []Window{weekly(t, "01:00:00Z", "01:00:00Z", sun)}}, nil, "2026-03-02T00:30:00Z", "open"},
		{"a weekday begins with its own offset", &WindowPolicy{Default: []Window{weekly(t, "01:00:00+05:00", "03:00:00+05:00", mon)}}, nil, "2026-03-01T19:30:00Z", "2026-03-01T20:00:00Z"},
		{"a negative offset", &WindowPolicy{Default: []Window{weekly(t, "22:00:00-08:00", "23:00:00-08:00", sun)}}, nil, "2026-03-02T06:30:00Z", "open"},
		{"two offsets in one window", &WindowPolicy{Default: []Window{weekly(t, "20:00:00+02:00", "20:00:00Z", sun)}}, nil, "2026-03-01T19:00:00Z", "open"},
		{"enough is left", &WindowPolicy{MinRemaining: 20 * time.Minute, Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sun)}}, nil, "2026-03-01T22:40:00Z", "open"},
		{"too little is left", &WindowPolicy{MinRemaining: 20 * time.Minute, Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sun)}}, nil, "2026-03-01T22:41:00Z", "2026-03-08T21:00:00Z"},
		{"a window that is too short does not count", &WindowPolicy{MinRemaining: 20 * time.Minute, Default: []Window{weekly(t, "21:00:00Z", "21:10:00Z", sun)}}, nil, "2026-03-01T12:00:00Z", "unknown"},
		{"windows that touch are one", &WindowPolicy{MinRemaining: 20 * time.Minute, Default: []Window{always}}, nil, "2026-03-01T23:59:00Z", "open"},
		{"a window that is there once", &WindowPolicy{Default: []Window{{Begin: at(t, "2026-05-01T10:00:00Z"), End: at(t, "2026-05-03T10:00:00Z")}}}, nil, "2026-03-01T12:00:00Z", "2026-05-01T10:00:00Z"},
		{"a window that occurred once, in the past", &WindowPolicy{Default: []Window{{Begin: at(t, "2026-01-01T10:00:00Z"), End: at(t, "2026-01-03T10:00:00Z")}}}, nil, "2026-03-01T12:00:00Z", "unknown"},
		{
			"the rule that matches counts, not the default",
			&WindowPolicy{Rules: []WindowRule{{trial, []Window{always}}}, Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sat)}},
			map[string]string{labelPlan: "free"}, "2026-03-01T12:00:00Z", "open",
		},
		{
			"a label that is absent is never matched",
			&WindowPolicy{Rules: []WindowRule{{WindowMatch{Plan: regexp.MustCompile("")}, []Window{always}}}, Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", sat)}},
			nil, "2026-03-01T12:00:00Z", "2026-03-07T21:00:00Z",
		},
		{
			"one expression of a rule is enough",
			&WindowPolicy{Rules: []WindowRule{{europe, []Window{always}}}},
			map[string]string{labelRegion: "us-1", labelPlatformRegion: "cf-eu10"}, "2026-03-01T12:00:00Z", "open",
		},
		{
			"only the first rule that matches",
			&WindowPolicy{Rules: []WindowRule{{europe, []Window{weekly(t, "21:00:00Z", "23:00:00Z", sat)}}, {trial, []Window{always}}}},
			map[string]string{labelRegion: "eu-1", labelPlan: "trial"}, "2026-03-01T12:00:00Z", "2026-03-07T21:00:00Z",
		},
		{
			"the default counts when the windows of the rule are over",
			&WindowPolicy{Rules: []WindowRule{{europe, nil}}, Default: []Window{always}},
			map[string]string{labelRegion: "eu-1"}, "2026-03-01T12:00:00Z", "open",
		},
		{
			"the global account",
			&WindowPolicy{Rules: []WindowRule{{WindowMatch{GlobalAccountID: regexp.MustCompile("^42$")}, []Window{always}}}},
			map[string]string{labelGlobalAccount: "42"}, "2026-03-01T12:00:00Z", "open",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			open, opens, known := NextWindow(test.policy, test.labels, at(t, test.now))
			got := "unknown"
			if known {
				got = opens.Format(time.RFC3339)
			}
			if open {
				got = "open"
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestWindow_EveryWeekdayHasItsWindow(t *testing.T) {
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		policy := &WindowPolicy{Default: []Window{weekly(t, "23:30:00+13:00", "02:00:00+13:00", weekday)}}
		for hour := range 24 * 7 {
			now := at(t, "2026-03-01T00:15:00Z").Add(time.Duration(hour) * time.Hour)
			open, opens, known := NextWindow(policy, nil, now)
			local := opens.In(time.FixedZone("", 13*3600))
			if !known || local.Weekday() != weekday || local.Format("15:04") != "23:30" {
				t.Errorf("%s at %s: opens %s", weekday, now, local)
			}
			if within := !now.Before(opens) && now.Before(opens.Add(150*time.Minute)); within != open {
				t.Errorf("%s at %s: open %v, opens %s", weekday, now, open, opens)
			}
			if !open && opens.Sub(now) > 7*24*time.Hour {
				t.Errorf("%s at %s: not the next one: %s", weekday, now, opens)
			}
		}
	}
}

func TestWindow_TheMachinesTimeZoneDoesNotMatter(t *testing.T) {
	policy := &WindowPolicy{Default: []Window{weekly(t, "21:00:00Z", "23:00:00Z", time.Sunday)}}
	for _, offset := range []int{-11, -5, 0, 5, 14} {
		now := at(t, "2026-03-01T12:00:00Z").In(time.FixedZone("", offset*3600))
		if _, opens, _ := NextWindow(policy, nil, now); !opens.Equal(at(t, "2026-03-01T21:00:00Z")) {
			t.Errorf("with offset %d it opens at %s", offset, opens)
		}
	}
}

func TestNextWake(t *testing.T) {
	now := noon.Time
	later := func(pause time.Duration) Verdict { return Verdict{WakeAt: now.Add(pause)} }
	for _, test := range []struct {
		name     string
		verdicts []Verdict
		want     time.Duration
	}{
		{"nothing waits", []Verdict{{}, {}}, 0},
		{"the soonest", []Verdict{later(3 * time.Hour), {}, later(2 * time.Hour)}, 2 * time.Hour},
		{"one that is already due", []Verdict{later(-time.Hour)}, time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := NextWake(test.verdicts, now); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// closedUntilNight sets a policy with no window open at noon; the next one opens at 22:00.
func closedUntilNight(w *Snapshot) { w.Windows = &WindowPolicy{Default: []Window{nightly}} }

var nightly = Window{
	Days:  wholeWeek,
	Begin: time.Date(2000, 1, 1, 22, 0, 0, 0, time.UTC), End: time.Date(2000, 1, 1, 23, 0, 0, 0, time.UTC),
}

func needsDowntime(version string) func(*Snapshot) {
	return theTemplate(version, func(m *v1beta2.ModuleTemplate) { m.Spec.RequiresDowntime = true })
}

func TestWindow_AnUpgradeWithDowntime(t *testing.T) {
	waits := verdictWords{Waiting, "", "WaitingForMaintenanceWindow",
		"version 2.0.0 needs downtime and waits for the maintenance window that opens at 2026-03-01T22:00:00Z", "regular", v1}
	runs := verdictWords{Run, "", "", "", "fast", v2}
	upgrade := []func(*Snapshot){installedAt("regular", v1), ofChannel("fast"), needsDowntime(v2)}
	for _, test := range []struct {
		name   string
		edits  []func(*Snapshot)
		want   verdictWords
		writes string // the version that is applied
	}{
		{"waits outside of a window", []func(*Snapshot){closedUntilNight}, waits, ""},
		{"repairs the installed version meanwhile", []func(*Snapshot){closedUntilNight, theManifest(func(m *v1beta2.Manifest) {
			m.Spec.Version = v2
		})}, waits, v1},
		{"starts in a window", []func(*Snapshot){closedUntilNight, func(w *Snapshot) { w.Now.Time = w.Now.Add(10 * time.Hour) }}, runs, v2},
		{"does not wait when the Kyma skips windows", []func(*Snapshot){closedUntilNight, func(w *Snapshot) { w.Kyma.Spec.SkipMaintenanceWindows = true }}, runs, v2},
		{"continues when it began in a window that is over", []func(*Snapshot){closedUntilNight, theManifest(func(m *v1beta2.Manifest) {
			m.Spec.Version, m.Spec.Install.Source.Raw = v2, encodeSource(newSource(v2))
		})}, runs, v2},
		{"is refused without a policy", nil, verdictWords{Keep, "Error", "MaintenanceWindowUnknown",
			"version 2.0.0 needs downtime, and no maintenance window is known: no maintenance policy is in force", "regular", v1}, ""},
		{"is refused when the policy has no window for this Kyma", []func(*Snapshot){func(w *Snapshot) {
			w.Windows = &WindowPolicy{MinRemaining: 20 * time.Minute}
		}}, verdictWords{Keep, "Error", "MaintenanceWindowUnknown", "version 2.0.0 needs downtime, and no maintenance window is known: " +
			"the maintenance policy names no window of at least 20m0s for this Kyma", "regular", v1}, ""},
		{"is refused because of its component first", []func(*Snapshot){closedUntilNight, unreadable(v2, v1beta2.ReasonComponentInvalid)},
			verdictWords{Keep, "Error", "ComponentInvalid", "component " + component + ":2.0.0 cannot be installed: the registry says so", "regular", v1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append(upgrade, test.edits...)...)
			got := only(t, w)
			if diff := cmp.Diff(test.want, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			var writes string
			for _, manifest := range MakePlan(w, []Verdict{got}).Apply {
				writes = manifest.Spec.Version
			}
			if writes != test.writes {
				t.Errorf("writes %q, want %q", writes, test.writes)
			}
		})
	}
}

func TestWindow_WhatNeedsNoWindow(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits []func(*Snapshot)
	}{
		{"a first installation", []func(*Snapshot){needsDowntime(v1)}},
		{"the version that is installed", []func(*Snapshot){needsDowntime(v1), installedAt("regular", v1)}},
		{"another channel with the same version", []func(*Snapshot){needsDowntime(v1), installedAt("fast", v1)}},
		{"an upgrade without downtime", []func(*Snapshot){installedAt("regular", v1), ofChannel("fast"), needsDowntime(v1)}},
		{"a Manifest that was edited by hand", []func(*Snapshot){
			needsDowntime(v1), installedAt("regular", v1), theManifest(func(m *v1beta2.Manifest) { m.Spec.Version = "0.9.0" }),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := only(t, sampleWorld(append(test.edits, closedUntilNight)...)); got.Kind != Run {
				t.Errorf("got %+v", wordsOf(got))
			}
		})
	}
}

func TestWindow_TheStatusOfAnUpgradeThatWaits(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), ofChannel("fast"), needsDowntime(v2), closedUntilNight)
	says := `version 2.0.0 needs downtime and waits for the maintenance window that opens at 2026-03-01T22:00:00Z`
	status := Rollup(w, Resolve(w), nil)
	entry := status.Modules[0]
	if !entry.Maintenance || entry.State != v1beta2.StateReady || entry.Version != v1 || entry.Channel != "regular" || entry.Message != says {
		t.Errorf("entry %+v", entry)
	}
	for _, condition := range status.Conditions {
		if condition.Status != "True" || condition.Reason != v1beta2.ReasonWaitingForMaintenanceWindow {
			t.Errorf("condition %+v", condition)
		}
		if want := "1 of 1 modules ready; template-operator: WaitingForMaintenanceWindow: " + says; condition.Type == "Ready" && condition.Message != want {
			t.Errorf("message %q", condition.Message)
		}
	}
	reporting(&w.Manifests[0], v1beta2.StateError, v1beta2.ReasonObjectFailed, "it fails")
	entry = Rollup(w, Resolve(w), nil).Modules[0]
	if !entry.Maintenance || entry.State != v1beta2.StateError || entry.Message != "it fails; "+says {
		t.Errorf("of what fails meanwhile: %+v", entry)
	}
	w.Now.Time = w.Now.Add(10 * time.Hour)
	if entry = Rollup(w, Resolve(w), nil).Modules[0]; entry.Maintenance || entry.Version != v2 {
		t.Errorf("in the window: %+v", entry)
	}
}
