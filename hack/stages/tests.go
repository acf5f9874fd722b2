package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// test is a test, a spec or a set-up, and how long it took.
type test struct {
	Suite string
	Name  string
	Took  time.Duration
	// Failure is the output of a failed test; "" means that it passed.
	Failure string
}

// junitSuites is the format of gotestsum, Ginkgo, Playwright and Vitest; times are seconds. See https://github.com/testmoapp/junitxml.
type junitSuites struct {
	Suites []struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name  string  `xml:"name,attr"`
			Class string  `xml:"classname,attr"`
			Time  float64 `xml:"time,attr"`
			// Ginkgo and Vitest write Error for anything other than a failed expectation, such as a panic.
			Failure *junitFailure `xml:"failure"`
			Error   *junitFailure `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// junitFailure holds the output of a test. gotestsum writes "Failed" as the message and the output into the text; Playwright writes the
// first line of the error as the message; Ginkgo and Vitest write all of it there, and its place into the text.
type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// said returns the output of a failure, which is never empty: the message, where the failure is, and the rest of the text.
func (f *junitFailure) said() string {
	switch {
	case f == nil:
		return ""
	case f.Message == "" || f.Message == "Failed":
		return "Failed\n" + f.Text
	}
	places, rest := f.beyondMessage()
	return strings.Join(slices.Concat([]string{f.Message}, places, rest), "\n")
}

// placesShown is the number of places of a failure that are put before the rest of its text: a helper's, and the test's that called it.
const placesShown = 2

var (
	// placeLine matches where a failure is: "at file.ts:1:2" of Playwright, "❯ file.ts:1:2" of Vitest, "In [It] at: file.go:1" of Ginkgo.
	placeLine = regexp.MustCompile(`^(at |❯ |In \[\w+\] at: ).*:\d`)
	// codeLine matches the code around a failing line, which is marked by ">" and not matched.
	codeLine = regexp.MustCompile(`^\d* *\|`)
)

// beyondMessage returns the lines of the text that the message does not contain, and of them first those that say where the failure is.
// Rules and the surrounding code are left out.
func (f *junitFailure) beyondMessage() (places, rest []string) {
	told := map[string]bool{"": true}
	for line := range strings.Lines(f.Message) {
		told[strings.TrimSpace(line)] = true
	}
	first, _, _ := strings.Cut(f.Message, "\n")
	for line := range strings.Lines(f.Text) {
		line = strings.TrimSpace(line)
		switch {
		case told[line], strings.HasSuffix(line, "──"), codeLine.MatchString(line):
		case strings.HasSuffix(line, ": "+first), strings.HasSuffix(line, "] "+first): // the message after the type of the error
		case len(places) < placesShown && placeLine.MatchString(line):
			places = append(places, line)
		default:
			rest = append(rest, line)
		}
	}
	return places, rest
}

// readTests returns the tests of every JUnit file in a folder.
func readTests(dir string) ([]test, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.xml"))
	if err != nil {
		return nil, err
	}
	var tests []test
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := parseTests(data)
		if err != nil {
			return nil, fmt.Errorf("%s is no JUnit file: %w", file, err)
		}
		tests = append(tests, found...)
	}
	return tests, nil
}

// parseTests returns the tests of one JUnit file. A Go test with subtests counts with its own time, as set-up, and its subtests count
// separately.
func parseTests(data []byte) ([]test, error) {
	var file junitSuites
	if err := xml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var tests []test
	for _, suite := range file.Suites {
		within := map[string]time.Duration{}
		for _, c := range suite.Cases {
			if parent := parentOf(c.Name); parent != "" {
				within[parent] += seconds(c.Time)
			}
		}
		for _, c := range suite.Cases {
			t := test{Suite: suiteName(suite.Name), Name: strings.Join(strings.Fields(c.Name), " "), Took: seconds(c.Time)}
			if inner, parent := within[c.Name]; parent {
				t.Name, t.Took = t.Name+" (without its subtests)", t.Took-inner
			}
			t.Failure = cmp.Or(c.Failure.said(), c.Error.said())
			if t.Took > 0 || t.Failure != "" {
				tests = append(tests, t)
			}
		}
	}
	return tests, nil
}

// parentOf returns the Go test of a subtest; "" for others, such as specs, whose names contain spaces.
func parentOf(name string) string {
	if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
		return ""
	}
	if end := strings.LastIndexByte(name, '/'); end > 0 {
		return name[:end]
	}
	return ""
}

// suiteName removes the module's path, which all Go packages share.
func suiteName(name string) string {
	return strings.TrimPrefix(name, "github.com/kyma-project/lifecycle-manager/")
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

// failedOf returns the tests that failed.
func failedOf(tests []test) []test {
	return slices.DeleteFunc(slices.Clone(tests), func(t test) bool { return t.Failure == "" })
}

// slowestOf returns at most n tests, the slowest first.
func slowestOf(tests []test, n int) []test {
	sorted := slices.Clone(tests)
	slices.SortStableFunc(sorted, func(a, b test) int { return cmp.Compare(b.Took, a.Took) })
	return sorted[:min(n, len(sorted))]
}
