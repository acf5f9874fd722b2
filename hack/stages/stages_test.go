package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script stands in for make: "pass" succeeds, "fail" fails, "slow" takes a tenth of a second, "meet-a" and "meet-b" wait for each other,
// and "nested" runs stages itself.
const script = `#!/bin/sh
case $1 in
fail) exit 3 ;;
slow) sleep 0.1 ;;
meet-a | meet-b) # each waits for the other
	touch "$STAGES_DIR/$1"
	for try in $(seq 600); do [ -e "$STAGES_DIR/meet-a" ] && [ -e "$STAGES_DIR/meet-b" ] && break; sleep 0.1; done
	[ -e "$STAGES_DIR/meet-a" ] && [ -e "$STAGES_DIR/meet-b" ] || exit ;;
nested) STAGES_AS_COMMAND=1 "$STAGES_PROGRAM" -make="$0" pass fail || exit ;;
esac
echo "made $1"
`

// runWith runs stages as a command and returns its output.
func runWith(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	program := filepath.Join(t.TempDir(), "make")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"-make=" + program}, args...), &out)
	return out.String(), err
}

// TestMain makes this program stand in for the command, for stages inside stages.
func TestMain(m *testing.M) {
	if os.Getenv("STAGES_AS_COMMAND") != "" {
		os.Exit(runCommand())
	}
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("STAGES_PROGRAM", program)
	for _, variable := range []string{"CI", folderVariable, parentVariable} { // these tests may be run by stages themselves
		_ = os.Unsetenv(variable)
	}
	os.Exit(m.Run())
}

func TestRun_MakesEveryStageThoughOneFailed(t *testing.T) {
	out, err := runWith(t, "fail", "pass")
	if err == nil || err.Error() != "fail (FAILED)" {
		t.Errorf("got error %v", err)
	}
	for _, line := range []string{`made pass`, `FAILED +fail\n`, `ok +pass\n`, `total\n`} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("%q is missing in\n%s", line, out)
		}
	}
}

func TestRun_OverBudget(t *testing.T) {
	for name, ci := range map[string]string{"fails in CI": "true", "is told elsewhere": ""} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", ci)
			out, err := runWith(t, "slow=10ms", "pass=1m")
			if (err != nil) != (ci != "") {
				t.Errorf("got error %v", err)
			}
			if !strings.Contains(out, "made pass") || !regexp.MustCompile(`OVER BUDGET +slow\n`).MatchString(out) {
				t.Errorf("got\n%s", out)
			}
		})
	}
}

func TestRun_ShowsStagesInsideStagesBelowThem(t *testing.T) {
	out, err := runWith(t, "nested+slow", "pass")
	if err == nil || err.Error() != "nested (FAILED)" {
		t.Errorf("got error %v", err)
	}
	rows := regexp.MustCompile(`(?m)(ok|FAILED)( +)(\w+)$`).FindAllStringSubmatch(out, -1)
	var got []string
	for _, row := range rows {
		got = append(got, row[1]+row[2]+row[3])
	}
	want := []string{"FAILED  nested", "ok    pass", "FAILED    fail", "ok  slow", "ok  pass"}
	if diff := cmp.Diff(want, got); diff != "" || strings.Count(out, "total") != 1 {
		t.Errorf("%s\n%s", diff, out)
	}
}

func TestRun_AtTheSameTime(t *testing.T) {
	out, err := runWith(t, "meet-a+meet-b", "pass")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, line := range []string{"== meet-a printed\nmade meet-a\n", "== meet-b printed\nmade meet-b\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is missing in\n%s", line, out)
		}
	}
}

func TestParseStages_RefusesWhatNamesNoTargetOrBudget(t *testing.T) {
	for _, args := range [][]string{{}, {"=5m"}, {"test="}, {"test=5"}, {"test=-5m"}, {"test+"}, {"a=1m+b=x"}} {
		if stages, err := parseStages(args); err == nil {
			t.Errorf("%q gives %v", args, stages)
		}
	}
}

func TestParseTests(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []test
	}{
		"a package of Go tests": {
			`<testsuites><testsuite name="github.com/kyma-project/lifecycle-manager/pkg/apply" time="3">
				<testcase classname="x" name="TestPlain" time="2.5"/><testcase classname="x" name="TestQuick" time="0.000000"/>
			</testsuite></testsuites>`,
			[]test{{Suite: "pkg/apply", Name: "TestPlain", Took: 2500 * time.Millisecond}},
		},
		"a Go test with subtests counts its own time": {
			`<testsuites><testsuite name="p"><testcase name="TestA" time="5"/><testcase name="TestA/one" time="1"/>
				<testcase name="TestA/two" time="3"/><testcase name="TestA/two/deep" time="2"/></testsuite></testsuites>`,
			[]test{
				{Suite: "p", Name: "TestA (without its subtests)", Took: time.Second},
				{Suite: "p", Name: "TestA/one", Took: time.Second},
				{Suite: "p", Name: "TestA/two (without its subtests)", Took: time.Second},
				{Suite: "p", Name: "TestA/two/deep", Took: 2 * time.Second},
			},
		},
		"parallel subtests leave no time for their test": {
			`<testsuites><testsuite name="p"><testcase name="TestA" time="1"/><testcase name="TestA/one" time="1"/>
				<testcase name="TestA/two" time="1"/></testsuite></testsuites>`,
			[]test{{Suite: "p", Name: "TestA/one", Took: time.Second}, {Suite: "p", Name: "TestA/two", Took: time.Second}},
		},
		"specs and set-ups of Ginkgo": {
			`<testsuites><testsuite name="Integration"><testcase name="[BeforeSuite]" classname="Integration" time="20"></testcase>
				<testcase name="[It] A Kyma of a/b is  Ready" classname="Integration" time="1.5"></testcase></testsuite></testsuites>`,
			[]test{{Suite: "Integration", Name: "[BeforeSuite]", Took: 20 * time.Second}, {Suite: "Integration", Name: "[It] A Kyma of a/b is Ready", Took: 1500 * time.Millisecond}},
		},
		"a failed test, even an instant one, is kept with its output: the message, and what the text says beyond it": {
			`<testsuites><testsuite name="p"><testcase name="TestA" time="0"><failure message="Failed" type="">a_test.go:1: no</failure></testcase>
				<testcase name="[It] is" time="1"><failure message="Expected&#xA;1" type="failed">[FAILED] Expected</failure></testcase>
				<testcase name="[It] has" time="1"><error message="a panic" type="panicked">stack</error></testcase></testsuite></testsuites>`,
			[]test{
				{Suite: "p", Name: "TestA", Failure: "Failed\na_test.go:1: no"},
				{Suite: "p", Name: "[It] is", Took: time.Second, Failure: "Expected\n1"},
				{Suite: "p", Name: "[It] has", Took: time.Second, Failure: "a panic\nstack"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseTests([]byte(c.file))
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestReadTests_NamesAFileThatIsNoJUnit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "broken.xml"), []byte("<testsuites>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readTests(dir); err == nil || !strings.Contains(err.Error(), "broken.xml") {
		t.Errorf("got %v", err)
	}
}

// What each reporter writes is in testdata, as it wrote it.
func TestPrintFailures_OfEachReporter(t *testing.T) {
	for file, want := range map[string]string{
		"playwright.xml": `
FAILED  pages.spec.ts: page overview
    rows of the overview
    at /src/web/browser/pages.spec.ts:5:47
    expect(received).toBe(expected) // Object.is equality
    Expected: 3
    Received: 2
    > 5 |   expect(rows.length, 'rows of the overview').toBe(3)
    Error Context: res/pages-page-overview/error-context.md

FAILED  pages.spec.ts: page catalog
    expect(locator).toBeVisible() failed
    at /src/web/browser/pages.spec.ts:10:58
    Locator: getByRole('row', { name: /kiosk/ })
    Expected: visible
    Timeout: 500ms
    Error: element(s) not found
    Call log:
    - Expect "toBeVisible" getByRole('row', { name: /kiosk/ }) with timeout 500ms

FAILED  pages.spec.ts: page modules
    locator.click: Timeout 700ms exceeded.
    at /src/web/browser/pages.spec.ts:15:54
    Call log:
    - waiting for getByRole('button', { name: 'Delete' })
    > 15 |   await page.getByRole('button', { name: 'Delete' }).click()
    res/pages-page-modules/test-failed-1.png
    Error Context: res/pages-page-modules/error-context.md
`,
		"ginkgo.xml": `
FAILED  Integration: [It] A Kyma is Ready
    state of kcp-system/demo
    Expected
    <string>: Processing
    to equal
    <string>: Ready
    In [It] at: github.com/kyma-project/lifecycle-manager/tests/integration/x_test.go:17 @ 11/29/26 06:57:53.644

FAILED  Integration: [It] A Kyma becomes Ready
    Timed out after 0.300s.
    The function passed to Eventually failed at github.com/kyma-project/lifecycle-manager/tests/integration/x_test.go:19 with:
    Expected
    <[]string | len:1, cap:1>: ["istio"]
    to contain element matching
    <string>: ledger
    In [It] at: github.com/kyma-project/lifecycle-manager/tests/integration/x_test.go:19 @ 11/29/26 06:57:53.945

FAILED  Integration: [It] A Kyma has modules
    assignment to entry in nil map
    In [It] at: internal/runtime/maps/runtime_faststr.go:265 @ 11/29/26 06:57:53.945
    [PANICKED] Test Panicked
    Full Stack Trace
    github.com/kyma-project/lifecycle-manager/tests/integration.init.func1.3()
    github.com/kyma-project/lifecycle-manager/tests/integration/x_test.go:23 +0x28
`,
		"gotestsum.xml": `
FAILED  internal/module: TestMerge/keeps_the_channel
    Failed
    === RUN   TestMerge/keeps_the_channel
    x_test.go:7: merged in 2 steps
    x_test.go:8: (-want +got):
    spec{
    -   channel: "fast",
    +   channel: "regular",
    }

FAILED  internal/module: TestMerge (without its subtests)
    Failed
    === RUN   TestMerge
    --- FAIL: TestMerge (0.00s)
`,
		"vitest.xml": `
FAILED  words.test.ts: counts
    expected { modules: 3, state: 'Ready' } to deeply equal { modules: 4, state: 'Ready' }
    ❯ words.test.ts:4:42
    - Expected
    + Received
    {
    -   "modules": 4,
    +   "modules": 3,
    "state": "Ready",

FAILED  words.test.ts: reads
    words is not iterable
    ❯ words.test.ts:8:9
`,
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			tests, err := parseTests(data)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			printFailures(&out, failedOf(tests))
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrintFailures(t *testing.T) {
	var out bytes.Buffer
	bad := "\n one\n\n" + strings.Repeat("x", 500) + "\n3\n4\n5\n6\n7\n8\n9"
	tests := []test{{Suite: "p", Name: "TestGood"}, {Suite: "p", Name: "TestBad", Failure: bad}}
	printFailures(&out, failedOf(tests))
	want := "\nFAILED  p: TestBad\n    one\n    " + strings.Repeat("x", lineWidth) + "\n    3\n    4\n    5\n    6\n    7\n    8\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	printFailures(&out, slices.Repeat(tests[1:], failuresShown+3))
	if n := strings.Count(out.String(), "FAILED"); n != failuresShown || !strings.HasSuffix(out.String(), "\nand 3 more\n") {
		t.Errorf("%d are shown:\n%s", n, &out)
	}
}

func TestSlowestOf(t *testing.T) {
	tests := []test{{Name: "a", Took: 1}, {Name: "b", Took: 3}, {Name: "c", Took: 2}}
	got := slowestOf(tests, 2)
	if diff := cmp.Diff([]test{{Name: "b", Took: 3}, {Name: "c", Took: 2}}, got); diff != "" {
		t.Error(diff)
	}
	if got := slowestOf(tests, 9); len(got) != 3 {
		t.Errorf("of three tests %d are the nine slowest", len(got))
	}
}
