package alerts

import (
	"context"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestScraper_KeepsWhatTheAlertsNeed(t *testing.T) {
	registry := prometheus.NewRegistry()
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lifecycle_mgr_calls_total", Help: "x"}, []string{"outcome"})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lifecycle_mgr_took_seconds", Help: "x", Buckets: []float64{1}})
	clock := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: clocks[0], Help: "x"}, func() float64 { return float64(time.Now().Unix()) + 3601 })
	other := prometheus.NewGauge(prometheus.GaugeOpts{Name: "other", Help: "x"})
	registry.MustRegister(calls, took, clock, other)
	calls.WithLabelValues("failed").Add(3)
	calls.WithLabelValues("answered")
	took.Observe(0.5)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	rules := &Rules{Alerts: []Alert{
		{Expr: `up == 0 and lifecycle_mgr_clock_seconds > 1 and lifecycle_mgr_calls_total > 1`},
		{Expr: `rate(lifecycle_mgr_took_seconds_bucket{le="1"}[1m]) > 1`},
	}}
	scraper := NewScraper(rules.Keeps(), func() []string { return []string{server.URL, ""} })
	if scraper.Last() != -1 {
		t.Errorf("the last sample is %d before the first", scraper.Last())
	}
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	group.Go(func() { scraper.Run(ctx) })
	if err := scraper.Await(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	stop()
	group.Wait()
	recording := &Recording{}
	scraper.Fill(recording)
	for series, want := range map[string]string{
		`up{instance="manager-1"}`: "1",
		`up{instance="manager-2"}`: "0",
		`lifecycle_mgr_calls_total{instance="manager-1", outcome="failed"}`: "3",
		`lifecycle_mgr_took_seconds_bucket{instance="manager-1", le="1"}`:   "1",
		`lifecycle_mgr_clock_seconds{instance="manager-1"}`:                 "360",
	} {
		if got := recording.Series[series]; !strings.HasPrefix(got, want) || want != "360" && got != want {
			t.Errorf("%s is %q, want %q", series, got, want)
		}
	}
	if len(recording.Series) != 5 || recording.Samples != 1 {
		t.Errorf("%d samples of %q", recording.Samples, slices.Sorted(maps.Keys(recording.Series)))
	}
}
