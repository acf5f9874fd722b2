package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
)

var day = time.Date(2026, 11, 22, 8, 30, 0, 0, time.UTC)

func result(bench, which string, value float64) Result {
	r := Result{Bench: bench, Case: which, Command: "make bench BENCH=" + bench, At: day, Machine: Machine{CPU: "EPYC", Cores: 2, MemoryGiB: 24, Go: "1.26.8"}}
	r.Add("create to Ready, p99", "ms", value, AtMost(1000)).Add("written", "calls", 20)
	return r
}

func TestMerge(t *testing.T) {
	curve := func(name string, points ...fit.Point) Curve {
		return Curve{Name: name, Bench: "B2", Lines: []Line{{Name: "manager", Points: points}}}
	}
	for name, c := range map[string]struct{ older, newer, want Set }{
		"a newer result of the same case replaces the older one": {
			Set{Results: []Result{result("B2", "K=10", 1), result("B2", "K=100", 1)}}, Set{Results: []Result{result("B2", "K=10", 2)}},
			Set{Results: []Result{result("B2", "K=10", 2), result("B2", "K=100", 1)}},
		},
		"the same case of another bench is another": {
			Set{Results: []Result{result("B2", "K=10", 1)}}, Set{Results: []Result{result("B1", "K=10", 2)}},
			Set{Results: []Result{result("B1", "K=10", 2), result("B2", "K=10", 1)}},
		},
		"benches and cases stand in the order of their numbers": {
			Set{Results: []Result{result("B10", "K=9", 1), result("B2", "K=1000", 1)}}, Set{Results: []Result{result("B2", "K=30", 1)}},
			Set{Results: []Result{result("B2", "K=30", 1), result("B2", "K=1000", 1), result("B10", "K=9", 1)}},
		},
		"a curve gets the points at other sizes": {
			Set{Curves: []Curve{curve("a", fit.Point{X: 1, Y: 1}, fit.Point{X: 100, Y: 3})}},
			Set{Curves: []Curve{curve("a", fit.Point{X: 100, Y: 4}, fit.Point{X: 10, Y: 2})}},
			Set{Curves: []Curve{curve("a", fit.Point{X: 1, Y: 1}, fit.Point{X: 10, Y: 2}, fit.Point{X: 100, Y: 4})}},
		},
		"curves of other names are kept": {
			Set{Curves: []Curve{curve("b")}}, Set{Curves: []Curve{curve("a")}}, Set{Curves: []Curve{curve("a"), curve("b")}},
		},
		"a line that is new to its curve is added": {
			Set{Curves: []Curve{curve("a", fit.Point{X: 1, Y: 1})}}, Set{Curves: []Curve{{Name: "a", Bench: "B2", Lines: []Line{{Name: "loop", Limit: true}}}}},
			Set{Curves: []Curve{{Name: "a", Bench: "B2", Lines: []Line{{Name: "manager", Points: []fit.Point{{X: 1, Y: 1}}}, {Name: "loop", Limit: true}}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Merge(c.older, c.newer)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncoding(t *testing.T) {
	set := Set{Results: []Result{result("B2", "K=10", 2)}, Curves: []Curve{*sample()}}
	data, err := Encode(set)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if diff := cmp.Diff(set, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if strings.Contains(string(data), `"goal": {}`) || strings.Contains(string(data), "0001-01-01") {
		t.Errorf("what is not there is written:\n%s", data)
	}
	for name, text := range map[string]string{"no JSON": "x", "another JSON": `{"items":[]}`} {
		if _, err := Decode([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "these are no results of a bench: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCurveKeepsItsBound(t *testing.T) {
	steep := []fit.Point{{X: 1, Y: 1}, {X: 10, Y: 100}, {X: 100, Y: 10000}}
	for name, c := range map[string]struct {
		line Line
		met  bool
	}{
		"a square is steeper than linear":      {Line{Points: steep}, false},
		"the limit may grow as it likes":       {Line{Points: steep, Limit: true}, true},
		"two points are not judged":            {Line{Points: steep[:2]}, true},
		"linear growth keeps the bound":        {Line{Points: []fit.Point{{X: 1, Y: 2}, {X: 10, Y: 20}, {X: 100, Y: 200}}}, true},
		"a line without points keeps anything": {Line{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			curve := &Curve{Lines: []Line{c.line}, Goal: AtMost(1.05)}
			if got := curve.Met(); got != c.met {
				t.Errorf("judged %t, want %t", got, c.met)
			}
		})
	}
}
