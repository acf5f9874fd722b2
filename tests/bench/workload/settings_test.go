package workload

import (
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
)

func TestMissedAreCountedFiguresAlone(t *testing.T) {
	r := report.Result{Bench: "B3", Case: "K=1"}
	r.Add("writes to the hub", "writes", 1, report.Exactly(0))
	r.Add("reads", "calls", 5, report.AtMost(9))
	r.Add("all Ready after", "s", 100, report.AtMost(1))
	grown := func(unit string, last float64) report.Curve {
		return report.Curve{
			Bench: "curves", Title: "of " + unit, YLabel: unit, Goal: report.AtMost(growth),
			Lines: []report.Line{{Points: []fit.Point{{X: 1, Y: 10}, {X: 2, Y: 20}, {X: 4, Y: last}}}},
		}
	}
	curves := []report.Curve{grown("calls", 40), grown("calls", 80), grown("CPU (s)", 80)}
	want := []string{"B3, K=1: writes to the hub is 1, not = 0", "curves, of calls: the exponent is not <= 1.05"}
	if got := Missed(report.Set{Results: []report.Result{r}, Curves: curves}); !slices.Equal(got, want) {
		t.Errorf("missed %q, want %q", got, want)
	}
}

func TestSettings_EveryWorkloadHasOneWayToRun(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All() {
		if (w.Run == nil) == (w.On == nil) || w.Title == "" || seen[w.Name] {
			t.Errorf("%s: needs a name of its own, a title, and either Run or On", w.Name)
		}
		seen[w.Name] = true
	}
	settings := Defaults()
	if _, err := Smoke(&settings); err != nil {
		t.Error(err)
	}
}
