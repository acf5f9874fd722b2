package policy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kyma-project/lifecycle-manager/internal/module"
)

var _ manager.LeaderElectionRunnable = &WindowFile{}

const (
	upstreams = `{
  "rules": [
    {"match": {"plan": "trial|free"},
     "windows": [{"days": ["Mon","Tue","Wed","Thu","Fri","Sat","Sun"], "begin": "01:00:00+00:00", "end": "01:00:00+00:00"}]},
    {"match": {"region": "europe|eu-|uksouth", "globalAccountID": "", "platformRegion": null},
     "windows": [{"days": ["Sat"], "begin": "21:00:00+00:00", "end": "00:00:00+00:00"}]}
  ],
  "default": {"days": ["Sat"], "begin": "21:00:00+00:00", "end": "23:00:00+00:00"}
}`
	withoutDefault = `{"rules": [{"match": {"plan": "trial"}, "windows": [{"days": ["Sun"], "begin": "00:00:00Z", "end": "00:00:00Z"}]}], "default": {}}`
	saturdays      = `default: {days: [Sat], begin: "21:00:00+00:00", end: "23:00:00+00:00"}`
	sundays        = `default: {days: [Sun], begin: "21:00:00+00:00", end: "23:00:00+00:00"}`
)

func TestParseWindows(t *testing.T) {
	const sunday, unknown = "2026-03-01T12:00:00Z", "0001-01-01T00:00:00Z"
	for _, test := range []struct {
		name, text string
		labels     map[string]string
		want       string // when the next window opens, "open" or unknown
	}{
		{"upstream's form, a rule for the plan", upstreams, map[string]string{"kyma-project.io/broker-plan-name": "trial"}, "open"},
		{"upstream's form, a rule for the region", upstreams, map[string]string{"kyma-project.io/region": "eu-central-1"}, "2026-03-07T21:00:00Z"},
		{"upstream's form, the default", upstreams, nil, "2026-03-07T21:00:00Z"},
		{"upstream's generator writes no default as {}, a rule matches", withoutDefault, map[string]string{"kyma-project.io/broker-plan-name": "trial"}, "open"},
		{"upstream's generator writes no default as {}, no rule matches", withoutDefault, nil, unknown},
		{"YAML", saturdays, nil, "2026-03-07T21:00:00Z"},
		{"a list of defaults", `default: [{days: [Sat], begin: "21:00:00Z", end: "23:00:00Z"}, {days: [Mon], begin: "21:00:00Z", end: "23:00:00Z"}]`, nil, "2026-03-02T21:00:00Z"},
		{"days as whole words in any case", `default: {days: [mOnDay], begin: "21:00:00Z", end: "23:00:00Z"}`, nil, "2026-03-02T21:00:00Z"},
		{"days as numbers", `default: {days: [1], begin: "21:00:00Z", end: "23:00:00Z"}`, nil, "2026-03-02T21:00:00Z"},
		{"Sunday as 7 or 0", `default: {days: ["7", 0], begin: "11:00:00Z", end: "23:00:00Z"}`, nil, "open"},
		{"a window that is there once", `default: {begin: "2026-04-01T10:00:00+02:00", end: "2026-04-01T12:00:00Z"}`, nil, "2026-04-01T08:00:00Z"},
		{"a full timestamp of which the time of day counts", `default: {days: [Sat], begin: "2020-01-01T21:00:00Z", end: "2020-01-01T23:00:00Z"}`, nil, "2026-03-07T21:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			policy, err := ParseWindows([]byte(test.text), 20*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			now, err := time.Parse(time.RFC3339, sunday)
			if err != nil {
				t.Fatal(err)
			}
			open, opens, _ := module.NextWindow(policy, test.labels, now)
			got := opens.Format(time.RFC3339)
			if open {
				got = "open"
			}
			if got != test.want || policy.MinRemaining != 20*time.Minute {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestParseWindowsRefuses(t *testing.T) {
	const weekly = `{days: [Sat], begin: "21:00:00Z", end: "23:00:00Z"}`
	for _, test := range []struct{ name, text, says string }{
		{"nothing", ``, "it is empty"},
		{"an empty object", `{}`, "it is empty"},
		{"no rule and no default", `{"rules": [], "default": {}}`, "it is empty"},
		{"a default with only an end", `default: {end: "23:00:00Z"}`, `begin "" is no moment`},
		{"no YAML", "\t- x", "no YAML"},
		{"two documents", saturdays + "\n---\n" + sundays, "several YAML documents"},
		{"an unknown field", `{default: ` + weekly + `, extra: 1}`, `unknown field "extra"`},
		{"an unknown field of a default", `default: {days: [Sat], begin: "21:00:00Z", end: "23:00:00Z", zone: UTC}`, `unknown field "zone"`},
		{"an unknown field of a match", `rules: [{match: {country: x}, windows: [` + weekly + `]}]`, `unknown field "rules[0].match.country"`},
		{"a duplicate field", "default: " + weekly + "\ndefault: " + weekly, `already`},
		{"an invalid expression", `rules: [{match: {plan: "("}, windows: []}]`, `rules[0]: match.plan "(" is no regular expression`},
		{"a day that is none", `default: {days: [Caturday], begin: "21:00:00Z", end: "23:00:00Z"}`, `day "caturday" is none: write Mon`},
		{"a day beyond seven", `default: {days: [8], begin: "21:00:00Z", end: "23:00:00Z"}`, `day "8" is none`},
		{"no begin", `default: {days: [Sat], end: "23:00:00Z"}`, `begin "" is no time of day with an offset`},
		{"a time without offset", `default: {days: [Sat], begin: "21:00:00", end: "23:00:00Z"}`, "write it like 21:00:00+00:00"},
		{"a time of day without days", `default: {begin: "21:00:00Z", end: "23:00:00Z"}`, "which a window without days needs"},
		{"an end before its begin", `default: {begin: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z"}`, "not after its begin"},
		{"a default that is a string", `default: always`, "does not have the form"},
		{"too many rules", `rules: [` + strings.Repeat(`{},`, maxWindowRules) + `{}]`, "1001 rules and 1000 are accepted"},
		{"too many windows", `default: [` + strings.Repeat(weekly+",", maxWindowsEach) + weekly + `]`, "101 windows and 100 are accepted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseWindows([]byte(test.text), 0)
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(test.says)) {
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

func FuzzParseWindows(f *testing.F) {
	f.Add([]byte(upstreams))
	f.Add([]byte(saturdays))
	f.Add([]byte(withoutDefault))
	f.Add([]byte(`default: {begin: "2026-04-01T10:00:00+02:00", end: "2026-04-01T12:00:00Z"}`))
	f.Add([]byte(`default: [{days: [7, "0"], begin: "24:00:00-23:59", end: "00:00:00+23:59"}]`))
	labels := map[string]string{"kyma-project.io/broker-plan-name": "trial"}
	f.Fuzz(func(t *testing.T, data []byte) {
		policy, err := ParseWindows(data, 20*time.Minute)
		if (policy == nil) != (err != nil) {
			t.Fatalf("policy %v, error %v", policy, err)
		}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		open, opens, known := module.NextWindow(policy, labels, now)
		switch {
		case !known && (open || !opens.IsZero()):
			t.Errorf("unknown, and yet %v, %s", open, opens)
		case known && open == opens.After(now):
			t.Errorf("open %v, opens %s", open, opens)
		case known && !open:
			if again, _, _ := module.NextWindow(policy, labels, opens); !again {
				t.Errorf("it is not open at %s", opens)
			}
		}
	})
}

// watchWindows follows a policy file, which is absent when text is empty.
func watchWindows(t *testing.T, text string) (file *WindowFile, write func(string), changes *atomic.Int32) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	write = func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	if text != "" {
		write(text)
	}
	file, changes = Windows(path, time.Minute, logr.Discard()), &atomic.Int32{}
	file.OnChange(func() { changes.Add(1) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- file.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("following ends with %v", err)
		}
	})
	return file, write, changes
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for end := time.After(10 * time.Second); !holds(); {
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("it never came about: %s", what)
		}
	}
}

func TestWindows_APolicyIsFollowed(t *testing.T) {
	file, write, changes := watchWindows(t, saturdays)
	first := file.Policy()
	if first == nil || !file.Good() {
		t.Fatalf("policy %v, error %v", first, file.Err())
	}
	write(sundays)
	eventually(t, "the new policy is in force", func() bool { return file.Policy() != first })
	eventually(t, "it was told", func() bool { return changes.Load() == 1 })
	if got := file.Policy().Default[0].Days; !cmp.Equal(got, []time.Weekday{time.Sunday}) {
		t.Errorf("days %v", got)
	}
	write("nonsense: true")
	eventually(t, "the error is told", func() bool { return file.Err() != nil })
	if file.Policy().Default[0].Days[0] != time.Sunday || file.Good() {
		t.Error("what was understood last does not stay in force")
	}
	write(saturdays)
	eventually(t, "it is repaired", func() bool { return file.Good() && changes.Load() == 2 })
}

func TestWindows_WithoutAPolicy(t *testing.T) {
	t.Run("a file that comes later is in force", func(t *testing.T) {
		file, write, changes := watchWindows(t, "")
		if file.Policy() != nil || file.Good() {
			t.Fatal("there is a policy")
		}
		write(saturdays)
		eventually(t, "the policy is in force", func() bool { return file.Good() && changes.Load() == 1 })
	})
	t.Run("an invalid file gives no policy and an error", func(t *testing.T) {
		file, _, _ := watchWindows(t, "nonsense: true")
		if file.Policy() != nil || file.Err() == nil {
			t.Errorf("policy %v, error %v", file.Policy(), file.Err())
		}
	})
	t.Run("a folder that does not exist stops nothing", func(t *testing.T) {
		file := Windows(filepath.Join(t.TempDir(), "none", "policy.json"), 0, logr.Discard())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := file.Start(ctx); err != nil || file.Policy() != nil {
			t.Errorf("policy %v, error %v", file.Policy(), err)
		}
	})
}
