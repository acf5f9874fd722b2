package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func figures() Set {
	again := result("B2", "K=100", 1100)
	again.Notes = []string{"the registry was slow"}
	return Set{Results: []Result{again, result("B2", "K=10", 61.4), {Bench: "own", Case: "a|b", Command: "x", At: day, Metrics: []Metric{{Name: "idle", Unit: "%", Value: 0.5}}}}, Curves: []Curve{*sample()}}
}

func TestTable(t *testing.T) {
	set := figures()
	set.Curves[0].Title = "Processor time"
	const want = `BENCH  CASE            WHAT                             VALUE  UNIT   BOUND
B2     K=10            create to Ready, p99              61.4  ms     <= 1,000  met
                       written                             20  calls
B2     K=100           create to Ready, p99             1,100  ms     <= 1,000  MISSED
                       written                             20  calls
own    a|b             idle                               0.5  %
B2     Processor time  exponent of manager              0.998         <= 1.05   met
                       exponent of bare loop & servers  0.995
                       exponent of heap (100 KiB)       0.632         <= 1.05   met
`
	if diff := cmp.Diff(want, Table(set)); diff != "" {
		t.Error(diff)
	}
}

func TestPage(t *testing.T) {
	const head, tail = "# Benchmarks\n\nBy hand.\n\n" + beginMark, endMark + "\n\nAlso by hand.\n"
	first, err := Page([]byte(head+"\nold figures\n"+tail), figures())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Page(first, figures())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Errorf("the second time is another page: %s", diff)
	}
	got := string(first)
	if !strings.HasPrefix(got, head+"\n\n") || !strings.HasSuffix(got, "\n"+tail) || strings.Contains(got, "old figures") {
		t.Errorf("what people wrote is not kept, or the old figures are:\n%s", got)
	}
	for _, want := range []string{
		"| a | EPYC, 2 cores | 24 GiB |  | 1.26.8 |  |  |\n",
		"\n### B2: many Kymas at once\n\n| case | what | figure | bound | |\n|---|---|---:|---|---|\n| K=10 | create to Ready, p99 | 61.4 ms | <= 1,000 | met |\n|  | written | 20 calls |  |  |\n",
		"| K=100 | create to Ready, p99 | 1,100 ms | <= 1,000 | **missed** |\n",
		"\n- K=100: the registry was slow\n",
		"\n- by `make bench BENCH=B2`, on a, 2026-11-22\n",
		"\n![Processor time to install Kymas with 5 modules of 20 objects](img/bench-kymas-cpu.svg)\n\n- manager: exponent 0.998 through 5 points, R² 1.000 (bound <= 1.05, met)\n",
		"\n### own\n\n", "| a\\|b | idle | 0.5 % |  |  |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
}

func TestPageNeedsItsMarks(t *testing.T) {
	for name, old := range map[string]string{
		"none":                 "# Benchmarks\n",
		"only one":             beginMark,
		"the wrong way around": endMark + "\n" + beginMark,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Page([]byte(old), Set{}); err == nil || !strings.Contains(err.Error(), "figures: begin") {
				t.Errorf("got %v", err)
			}
		})
	}
}
