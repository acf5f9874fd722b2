package workload

import (
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
)

// Defaults are sizes with which all workloads take half an hour on two cores.
func Defaults() Settings {
	return Settings{
		Kymas: []int{1000}, Modules: 5, Objects: 20, Idle: 5 * time.Minute, Singles: []int{1, 20, 100}, Runs: 30, Pairs: 5,
		Curve: Curve{
			Kymas: []int{30, 100, 300, 1000}, Modules: []int{1, 5, 20, 50}, Objects: []int{1, 10, 100, 1000}, ModulesAt: 30, ObjectsAt: 30,
		},
	}
}

// smoke are the workloads of a short run.
const smoke = "B1,B2,B3,B4,B8,B11,B12,curves"

// Smoke returns the workloads of a short run and sets their sizes: enough to count every kind of call, and how calls grow with Kymas. How
// they grow with modules and objects the other workloads hold to bounds for each.
func Smoke(s *Settings) ([]Workload, error) {
	s.Kymas, s.Modules, s.Objects, s.Idle = []int{20}, 3, 10, 5*time.Second
	s.Runs, s.Singles, s.NoWorkloads = 3, []int{goalSize}, true
	s.Pairs, s.Brief = 1, true
	s.Curve = Curve{Kymas: []int{4, 12, 36}}
	return Choose(smoke)
}

// counted are the units of figures that do not depend on the machine.
var counted = map[string]bool{"writes": true, "calls": true, "admissions": true, "loops": true}

// Missed lists the counted figures that miss their bounds.
func Missed(set report.Set) []string {
	var missed []string
	for _, r := range set.Results {
		for _, m := range r.Metrics {
			if counted[m.Unit] && !m.Met() {
				missed = append(missed, fmt.Sprintf("%s, %s: %s is %s, not %s", r.Bench, r.Case, m.Name, report.Figure(m.Value), m.Goal))
			}
		}
	}
	for _, c := range set.Curves {
		if counted[c.YLabel] && !c.Met() {
			missed = append(missed, fmt.Sprintf("%s, %s: the exponent is not %s", c.Bench, c.Title, c.Goal))
		}
	}
	return missed
}
