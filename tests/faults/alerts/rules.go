package alerts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// rulesFile has the alerts that are deployed.
const rulesFile = "config/components/monitoring/rules.yaml"

// Rules are the alerts that are deployed.
type Rules struct {
	Alerts []Alert
	// spec is that of the PrometheusRule, which is a file of rules as Prometheus reads it.
	spec []byte
}

// Alert is one of them.
type Alert struct {
	Name        string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// ReadRules reads the alerts of this checkout.
func ReadRules() (*Rules, error) {
	root, err := localcluster.Root()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rulesFile)))
	if err != nil {
		return nil, err
	}
	var file struct {
		Spec any `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", rulesFile, err)
	}
	r := &Rules{}
	if r.spec, err = yaml.Marshal(file.Spec); err != nil {
		return nil, err
	}
	var groups struct {
		Groups []struct {
			Rules []Alert `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(r.spec, &groups); err != nil {
		return nil, fmt.Errorf("%s: %w", rulesFile, err)
	}
	for _, group := range groups.Groups {
		r.Alerts = append(r.Alerts, group.Rules...)
	}
	if len(r.Alerts) == 0 {
		return nil, errors.New(rulesFile + " has no alerts")
	}
	return r, nil
}

// names matches the metrics that an expression may name: those of the manager and of the libraries that it is made of, and what Prometheus
// itself adds.
var names = regexp.MustCompile(`\b(?:up|(?:lifecycle_mgr|controller_runtime|workqueue|rest_client|process|go)_[a-z0-9_]+)\b`)

// quoted matches the texts of an expression, which are values of labels.
var quoted = regexp.MustCompile(`"[^"]*"`)

// MetricsOf returns the metrics that an expression names, sorted.
func MetricsOf(expr string) []string {
	found := names.FindAllString(quoted.ReplaceAllString(expr, `""`), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// Metrics returns the metrics that the alerts need, sorted.
func (r *Rules) Metrics() []string {
	var all []string
	for _, alert := range r.Alerts {
		all = append(all, MetricsOf(alert.Expr)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// bounds matches the bounds of buckets that an expression asks for.
var bounds = regexp.MustCompile(`le="([^"]*)"`)

// Keeps returns a function that reports whether the alerts need a series: one of the metrics that they name and, of a histogram, one of the
// buckets.
func (r *Rules) Keeps() func(model.Metric) bool {
	metrics, buckets := r.Metrics(), []string{""}
	for _, alert := range r.Alerts {
		for _, match := range bounds.FindAllStringSubmatch(alert.Expr, -1) {
			buckets = append(buckets, match[1])
		}
	}
	return func(series model.Metric) bool {
		return slices.Contains(metrics, string(series[model.MetricNameLabel])) && slices.Contains(buckets, string(series[model.BucketLabel]))
	}
}

// reasons matches the values of label reason that an expression asks for.
var reasons = regexp.MustCompile(`reason(?:=|!=|=~|!~)"([^"]*)"`)

// ReasonsOf returns the reasons that an expression names.
func ReasonsOf(expr string) []string {
	var found []string
	for _, match := range reasons.FindAllStringSubmatch(expr, -1) {
		found = append(found, strings.Split(match[1], "|")...)
	}
	return found
}
