package alerts

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics
	controllermetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
)

const root = "../../.."

func deployed(t *testing.T) *Rules {
	t.Helper()
	rules, err := ReadRules()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// registered returns the names of all metrics that the manager can publish.
func registered(t *testing.T) map[string]bool {
	t.Helper()
	registry := prometheus.NewRegistry()
	good, none := func() bool { return true }, func() int { return 0 }
	_, states := metrics.New(registry, true)
	_, signatures := metrics.NewSignatures(registry)
	_, requeues := metrics.NewRequeues(registry)
	_, rollouts := metrics.NewRollouts(registry)
	_, shards := metrics.NewShards(registry, none)
	_, renders := metrics.CountRenders(registry)
	_, calls := metrics.NewAPICalls(registry)
	_, phases := metrics.NewPhases(registry)
	_, repairs := metrics.NewRepairs(registry)
	err := errors.Join(
		states, signatures, requeues, rollouts, shards, renders, calls, phases, repairs, metrics.WatchApprovals(registry, good),
		metrics.WatchWindows(registry, good), metrics.WatchYielded(registry, "kyma", none), metrics.WatchClock(registry, time.Now),
	)
	if err != nil {
		t.Fatal(err)
	}
	libraries, is := controllermetrics.Registry.(prometheus.Collector)
	if !is {
		t.Fatalf("%T does not describe what is registered with it", controllermetrics.Registry)
	}
	name, known := regexp.MustCompile(`fqName: "([^"]+)"`), map[string]bool{"up": true}
	for _, collector := range []prometheus.Collector{registry, libraries} {
		described := make(chan *prometheus.Desc)
		go func() {
			collector.Describe(described)
			close(described)
		}()
		for desc := range described {
			known[name.FindStringSubmatch(desc.String())[1]] = true
		}
	}
	return known
}

// plain returns the metric that a series of a histogram belongs to.
func plain(name string, known map[string]bool) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if of, cut := strings.CutSuffix(name, suffix); cut && known[of] {
			return of
		}
	}
	return name
}

func TestRules_NameMetricsThatExist(t *testing.T) {
	known := registered(t)
	for _, alert := range deployed(t).Alerts {
		named := MetricsOf(alert.Expr)
		if len(named) == 0 {
			t.Errorf("%s names no metric: %s", alert.Name, alert.Expr)
		}
		for _, name := range named {
			if !known[plain(name, known)] {
				t.Errorf("%s: the manager has no metric %s", alert.Name, name)
			}
		}
	}
}

func TestRules_NeedNoSeriesOfSingleKymas(t *testing.T) {
	for _, name := range deployed(t).Metrics() {
		switch name {
		case "lifecycle_mgr_kyma_state", "lifecycle_mgr_module_state", "lifecycle_mgr_mandatory_module_state", "rest_client_requests_total":
			t.Errorf("an alert needs %s, which is not there with --per-kyma-metrics=false", name)
		}
	}
}

func TestRules_NameReasonsThatExist(t *testing.T) {
	constants := page(t, "api/v1beta2/conditions.go")
	for _, alert := range deployed(t).Alerts {
		for _, reason := range ReasonsOf(alert.Expr) {
			if !regexp.MustCompile(`(?m)^\tReason\w+ += "` + regexp.QuoteMeta(reason) + `"`).MatchString(constants) {
				t.Errorf("%s: the API has no reason %q", alert.Name, reason)
			}
		}
	}
}

func TestRules_LeadToARunbook(t *testing.T) {
	runbooks, names := page(t, "docs/runbooks.md"), map[string]bool{}
	for _, alert := range deployed(t).Alerts {
		if names[alert.Name] {
			t.Errorf("%s is there twice", alert.Name)
		}
		names[alert.Name] = true
		if !slices.Contains([]string{"critical", "warning"}, alert.Labels["severity"]) {
			t.Errorf("%s has severity %q", alert.Name, alert.Labels["severity"])
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s does not say what is wrong", alert.Name)
		}
		if _, anchor, _ := strings.Cut(alert.Annotations["runbook_url"], "docs/runbooks.md#"); anchor != strings.ToLower(alert.Name) {
			t.Errorf("%s leads to %q", alert.Name, alert.Annotations["runbook_url"])
		}
		_, section, found := strings.Cut(runbooks, "\n## "+alert.Name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, part := range []string{"**What it means.**", "**How to see.**", "**What to do.**"} {
			if !found || !strings.Contains(section, part) {
				t.Errorf("docs/runbooks.md does not have %s of %s", part, alert.Name)
			}
		}
	}
	for _, match := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(runbooks, -1) {
		if !names[match[1]] {
			t.Errorf("docs/runbooks.md has a section %s, and there is no such alert", match[1])
		}
	}
}

// dashboard is what the tests look at of a dashboard of Grafana.
type dashboard struct {
	UID    string `json:"uid"`
	Title  string `json:"title"`
	Panels []struct {
		ID      int    `json:"id"`
		Title   string `json:"title"`
		Targets []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

func TestDashboards_AskForMetricsThatExist(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config/components/monitoring/dashboards/*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%d dashboards, error %v", len(files), err)
	}
	known, kustomization := registered(t), page(t, "config/components/monitoring/kustomization.yaml")
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var board dashboard
			if err := json.Unmarshal(data, &board); err != nil {
				t.Fatal(err)
			}
			if board.UID == "" || board.Title == "" || len(board.Panels) == 0 || !strings.Contains(kustomization, filepath.Base(name)) {
				t.Error("it has no name or no panels, or is not deployed")
			}
			seen := map[int]bool{}
			for _, panel := range board.Panels {
				if seen[panel.ID] || panel.Title == "" || len(panel.Targets) == 0 {
					t.Errorf("panel %d %q has no ID of its own, no title or no query", panel.ID, panel.Title)
				}
				seen[panel.ID] = true
				for _, target := range panel.Targets {
					named := MetricsOf(target.Expr)
					if len(named) == 0 {
						t.Errorf("%s: %q names no metric", panel.Title, target.Expr)
					}
					for _, name := range named {
						if !known[plain(name, known)] {
							t.Errorf("%s: the manager has no metric %s", panel.Title, name)
						}
					}
				}
			}
		})
	}
}

func TestMetricsOf(t *testing.T) {
	for expr, want := range map[string]string{
		`up{job="go_home"} == 0`: "up",
		`sum(increase(lifecycle_mgr_a_total{b="up"}[2m])) / sum(rate(lifecycle_mgr_a_total[1m]))`: "lifecycle_mgr_a_total",
		`abs(lifecycle_mgr_c - timestamp(lifecycle_mgr_c)) and process_x > go_y`:                  "go_y lifecycle_mgr_c process_x",
		`vector(1)`: "",
	} {
		if got := strings.Join(MetricsOf(expr), " "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

func TestReasonsOf(t *testing.T) {
	got := strings.Join(ReasonsOf(`a{reason="One"} or b{state="Error",reason=~"Two|Three"} or c{reason!~"Four"}`), " ")
	if got != "One Two Three Four" {
		t.Errorf("got %q", got)
	}
}
