package alerts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// RingsWithin is how long after a fault its alert may take to ring.
	RingsWithin = 2 * time.Minute
	// ClearsWithin is how long after the end of a fault an alert may still ring.
	ClearsWithin = 5 * time.Minute

	// job is the label that a ServiceMonitor gives all series: the name of the Service.
	job = "klm-controller-manager-metrics"
)

// Promtool evaluates rules.
type Promtool struct {
	// Program is its path.
	Program string
	// Rules are those that it evaluates.
	Rules *Rules
}

// Check returns an error when the rules cannot be loaded by Prometheus.
func (p *Promtool) Check(ctx context.Context, dir string) error {
	rules, err := p.write(dir)
	if err != nil {
		return err
	}
	return p.run(ctx, dir, "check", "rules", "--lint=all", "--lint-fatal", rules)
}

// Replay returns an error when the rules do not do over a recording what is expected of them. dir is for files.
func (p *Promtool) Replay(ctx context.Context, dir string, r *Recording, expected Expectation) error {
	rules, err := p.write(dir)
	if err != nil {
		return err
	}
	test, err := testOf(r, expected)
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(map[string]any{
		"rule_files": []string{rules}, "evaluation_interval": Interval.String(), "tests": []any{test},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "test.yaml"), data, 0o600); err != nil {
		return err
	}
	return p.run(ctx, dir, "test", "rules", "test.yaml")
}

// write puts the rules where promtool finds them, and returns the name of the file.
func (p *Promtool) write(dir string) (string, error) {
	const rules = "rules.yaml"
	return rules, os.WriteFile(filepath.Join(dir, rules), p.Rules.spec, 0o600)
}

func (p *Promtool) run(ctx context.Context, dir string, arguments ...string) error {
	command := exec.CommandContext(ctx, p.Program, arguments...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("promtool %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// promtest is a test in the form that promtool reads.
type promtest struct {
	Name     string       `json:"name"`
	Interval string       `json:"interval"`
	Input    []promseries `json:"input_series"`
	Queries  []promquery  `json:"promql_expr_test"`
}

type promseries struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type promquery struct {
	Expr    string       `json:"expr"`
	At      string       `json:"eval_time"`
	Samples []promsample `json:"exp_samples"`
}

type promsample struct {
	Labels string  `json:"labels"`
	Value  float64 `json:"value"`
}

// testOf returns the test of a recording: no alert before the fault, the expected one soon, and none afterwards.
func testOf(r *Recording, expected Expectation) (*promtest, error) {
	test := &promtest{Name: strings.TrimSpace(r.Fault + " " + r.Form), Interval: Interval.String()}
	for _, series := range slices.Sorted(maps.Keys(r.Series)) {
		samples, err := decode(r.Series[series])
		if err != nil {
			return nil, err
		}
		labelled := strings.TrimSuffix(series, "}") + ", job=" + strconv.Quote(job) + "}"
		test.Input = append(test.Input, promseries{Series: labelled, Values: strings.Join(staleAfter(samples), " ")})
	}
	last := at(r.Samples - 1)
	if expected.Alert == "" { // nothing may ring at any time
		test.Queries = []promquery{{Expr: rang(firing, last+Interval), At: seconds(last)}}
		return test, nil
	}
	label := fmt.Sprintf("alertname=%q", expected.Alert)
	test.Queries = []promquery{
		{Expr: rings, At: seconds(at(r.Began))},
		{
			Expr: rang(firing+","+label, RingsWithin), At: seconds(at(r.Struck) + RingsWithin),
			Samples: []promsample{{Labels: "{" + label + "}", Value: 1}},
		},
		{Expr: rings, At: seconds(min(at(r.Mended)+ClearsWithin, last))},
	}
	return test, nil
}

const (
	// firing are the labels of an alert that rings, and not only is about to.
	firing = `alertstate="firing"`
	// rings has 1 for each alert that rings.
	rings = "group by (alertname) (ALERTS{" + firing + "})"
)

// rang returns a query that has 1 for each alert with these labels that rang within the time before.
func rang(labels string, within time.Duration) string {
	return "group by (alertname) (count_over_time(ALERTS{" + labels + "}[" + seconds(within) + "]))"
}

// at returns when a sample was taken.
func at(sample int) time.Duration { return time.Duration(sample) * Interval }

func seconds(d time.Duration) string { return fmt.Sprintf("%ds", int(d.Seconds())) }

// staleAfter marks the end of what is not there any more, as Prometheus does when a scrape fails or lacks a series: without the mark it
// would go on for minutes with the last value.
func staleAfter(samples []string) []string {
	marked := slices.Clone(samples)
	for i := 1; i < len(marked); i++ {
		if samples[i] == absent && samples[i-1] != absent {
			marked[i] = "stale"
		}
	}
	return marked
}
