package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// maxWindowRules and maxWindowsEach keep a mistake (a generated file) from slowing down every upgrade.
	maxWindowRules = 1000
	maxWindowsEach = 100
	// clock is a time of day with its offset.
	clock = "15:04:05Z07:00"
)

// windowsFile is the file as users write it.
type windowsFile struct {
	Rules []ruleEntry `json:"rules"`
	// Default is one window, as in upstream, or a list.
	Default json.RawMessage `json:"default"`
}

type ruleEntry struct {
	Match struct {
		GlobalAccountID string `json:"globalAccountID"`
		Plan            string `json:"plan"`
		Region          string `json:"region"`
		PlatformRegion  string `json:"platformRegion"`
	} `json:"match"`
	Windows []windowEntry `json:"windows"`
}

type windowEntry struct {
	Days  []day  `json:"days"`
	Begin string `json:"begin"`
	End   string `json:"end"`
}

// day is a weekday as users write it: Sat, Saturday or 6, in any case; Sunday is 0 and 7. It stays text until it is checked, so that an
// error can name its position.
type day string

// UnmarshalJSON accepts a string or a number.
func (d *day) UnmarshalJSON(data []byte) error {
	*d = day(bytes.Trim(data, `"`))
	return nil
}

// CheckWindows returns why a maintenance policy is invalid.
func CheckWindows(data []byte) error {
	_, err := ParseWindows(data, 0)
	return err
}

// ParseWindows parses a maintenance policy; least is the part of a window that must be left. The error lists all problems at once.
func ParseWindows(data []byte, least time.Duration) (*module.WindowPolicy, error) {
	file, defaults, err := decodeWindows(data)
	if err != nil {
		return nil, err
	}
	policy := &module.WindowPolicy{MinRemaining: least}
	var problems []error
	for i := range file.Rules {
		rule, err := file.Rules[i].rule()
		if err != nil {
			problems = append(problems, fmt.Errorf("rules[%d]: %w", i, err))
		}
		policy.Rules = append(policy.Rules, rule)
	}
	if policy.Default, err = windowsOf(defaults); err != nil {
		problems = append(problems, fmt.Errorf("default: %w", err))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return policy, nil
}

func decodeWindows(data []byte) (*windowsFile, []windowEntry, error) {
	document, err := onlyDocument(data)
	if err != nil {
		return nil, nil, err
	}
	const form = `it does not have the form "rules: [{match, windows: [{days, begin, end}]}], default: {days, begin, end}": %w`
	var file windowsFile
	if err := strictly(document, &file); err != nil {
		return nil, nil, fmt.Errorf(form, err)
	}
	defaults, err := defaultWindows(file.Default)
	if err != nil {
		return nil, nil, fmt.Errorf(form, fmt.Errorf("default: %w", err))
	}
	if len(file.Rules) == 0 && len(defaults) == 0 {
		// An editor that truncates before it writes must not refuse every upgrade for a moment.
		return nil, nil, errors.New("it is empty: write rules, a default or both")
	}
	if len(file.Rules) > maxWindowRules {
		return nil, nil, fmt.Errorf("it has %d rules and %d are accepted", len(file.Rules), maxWindowRules)
	}
	return &file, defaults, nil
}

// defaultWindows accepts one window or a list of them. An empty window counts as none: programs that write upstream's form, in which the
// default is not a pointer, write {} when there is no default.
func defaultWindows(raw json.RawMessage) ([]windowEntry, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '[' {
		var list []windowEntry
		return list, strictly(raw, &list)
	}
	var one windowEntry
	if err := strictly(raw, &one); err != nil {
		return nil, err
	}
	if len(one.Days) == 0 && one.Begin == "" && one.End == "" {
		return nil, nil
	}
	return []windowEntry{one}, nil
}

// strictly accepts known fields only, each given once.
func strictly(data []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(data, into)
	return errors.Join(append(strict, err)...)
}

func (e *ruleEntry) rule() (module.WindowRule, error) {
	var problems []error
	expression := func(field, pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			problems = append(problems, fmt.Errorf("match.%s %q is no regular expression: %w", field, pattern, err))
		}
		return compiled
	}
	rule := module.WindowRule{Match: module.WindowMatch{
		GlobalAccountID: expression("globalAccountID", e.Match.GlobalAccountID),
		Plan:            expression("plan", e.Match.Plan),
		Region:          expression("region", e.Match.Region),
		PlatformRegion:  expression("platformRegion", e.Match.PlatformRegion),
	}}
	var err error
	if rule.Windows, err = windowsOf(e.Windows); err != nil {
		problems = append(problems, err)
	}
	return rule, errors.Join(problems...)
}

func windowsOf(entries []windowEntry) ([]module.Window, error) {
	if len(entries) > maxWindowsEach {
		return nil, fmt.Errorf("it has %d windows and %d are accepted", len(entries), maxWindowsEach)
	}
	var windows []module.Window
	var problems []error
	for i := range entries {
		window, err := entries[i].window()
		if err != nil {
			problems = append(problems, fmt.Errorf("window %d: %w", i+1, err))
			continue
		}
		windows = append(windows, window)
	}
	return windows, errors.Join(problems...)
}

func (e *windowEntry) window() (module.Window, error) {
	var window module.Window
	for _, written := range e.Days {
		weekday, err := weekdayOf(string(written))
		if err != nil {
			return window, err
		}
		window.Days = append(window.Days, weekday)
	}
	var err error
	if window.Begin, err = moment("begin", e.Begin, len(e.Days) > 0); err != nil {
		return window, err
	}
	if window.End, err = moment("end", e.End, len(e.Days) > 0); err != nil {
		return window, err
	}
	if len(e.Days) == 0 && !window.End.After(window.Begin) {
		return window, fmt.Errorf("it ends at %s, which is not after its begin %s", e.End, e.Begin)
	}
	return window, nil
}

// moment parses a point in time or, for a window with days, a time of day. The machine's own time zone has no influence.
func moment(field, written string, weekly bool) (time.Time, error) {
	parsed, err := time.Parse(time.RFC3339, written)
	if err != nil && weekly {
		parsed, err = time.Parse(clock, written)
	}
	switch {
	case err != nil && weekly:
		return parsed, fmt.Errorf("%s %q is no time of day with an offset: write it like 21:00:00+00:00 or 21:00:00Z", field, written)
	case err != nil:
		return parsed, fmt.Errorf("%s %q is no moment, which a window without days needs: write it like 2026-01-31T21:00:00Z", field, written)
	}
	_, offset := parsed.Zone()
	return parsed.In(time.FixedZone("", offset)), nil
}

func weekdayOf(written string) (time.Weekday, error) {
	word := strings.ToLower(strings.TrimSpace(written))
	if number, err := strconv.Atoi(word); err == nil && 0 <= number && number <= 7 && len(word) == 1 {
		return time.Weekday(number % 7), nil
	}
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		if name := strings.ToLower(weekday.String()); word == name || word == name[:3] {
			return weekday, nil
		}
	}
	return 0, fmt.Errorf("day %q is none: write Mon, Tue, Wed, Thu, Fri, Sat or Sun", written)
}
