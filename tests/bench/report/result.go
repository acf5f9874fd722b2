package report

import (
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
)

// Metric is one figure.
type Metric struct {
	// Name says what was measured, in words that need no legend: "create to Ready, p99".
	Name string `json:"name"`
	// Unit is "ms", "s", "calls", "writes", "KiB", "objects/s", "%" or the like; empty for a ratio.
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	// Goal is what the value is held to; the zero Bound holds it to nothing.
	Goal Bound `json:"goal,omitzero"`
}

// Met reports whether the value keeps its bound, or has none.
func (m Metric) Met() bool { return m.Goal.Met(m.Value) }

// Result is what one case of a bench gave.
type Result struct {
	// Bench is the workload, "B0" to "B12" or another short word.
	Bench string `json:"bench"`
	// Case is what was varied, and what on: "K=1000 m=5 R=20, simulated". Within a bench it is the key: a newer result replaces an older one.
	Case    string   `json:"case"`
	Metrics []Metric `json:"metrics"`
	// Command repeats it.
	Command string    `json:"command"`
	At      time.Time `json:"at"`
	// Took is the time that the case took, preparation included.
	Took time.Duration `json:"took,omitempty"`
	// Notes are sentences for the reader, such as why a bound was missed.
	Notes []string `json:"notes,omitempty"`
	// Machine is what it ran on.
	Machine Machine `json:"machine,omitzero"`
}

// Add appends a metric and returns the result, so that calls can be chained.
func (r *Result) Add(name, unit string, value float64, goal ...Bound) *Result {
	m := Metric{Name: name, Unit: unit, Value: value}
	if len(goal) > 0 {
		m.Goal = goal[0]
	}
	r.Metrics = append(r.Metrics, m)
	return r
}

// Met reports whether all metrics keep their bounds.
func (r *Result) Met() bool {
	return !slices.ContainsFunc(r.Metrics, func(m Metric) bool { return !m.Met() })
}

// Value returns the metric of a name.
func (r *Result) Value(name string) (float64, bool) {
	for _, m := range r.Metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// Machine is what a result was taken on.
type Machine struct {
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores,omitempty"`
	MemoryGiB  int    `json:"memoryGiB,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	Go         string `json:"go,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Revision is the commit of this repository, with "+" behind it when the checkout differed from it.
	Revision string `json:"revision,omitempty"`
}

// Curve is how a cost grows with a size. It becomes docs/img/<Name>.svg.
type Curve struct {
	// Name is that of the file, without ending: "bench-kymas-cpu".
	Name  string `json:"name"`
	Bench string `json:"bench"`
	Title string `json:"title"`
	// XLabel and YLabel carry the unit: "Kymas", "CPU (s)".
	XLabel string `json:"xLabel"`
	YLabel string `json:"yLabel"`
	Lines  []Line `json:"lines"`
	// Goal is what the exponent of each line is held to.
	Goal    Bound     `json:"goal,omitzero"`
	Command string    `json:"command,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// Line is one row of points of a Curve.
type Line struct {
	Name   string      `json:"name"`
	Points []fit.Point `json:"points"`
	// Limit marks a line that is not ours, such as the bare loop: it is drawn in grey, and held to nothing.
	Limit bool `json:"limit,omitempty"`
}

// Law returns the power law through the points.
func (l Line) Law() fit.Power { return fit.PowerLaw(l.Points) }

// Met reports whether the exponents of all lines keep the bound. A line of fewer than three points has none yet.
func (c *Curve) Met() bool {
	return !slices.ContainsFunc(c.Lines, func(l Line) bool {
		law := l.Law()
		return !l.Limit && law.Points >= 3 && !c.Goal.Met(law.Exponent)
	})
}
