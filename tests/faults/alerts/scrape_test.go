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
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total", Help: "x"}, []string{"outcome"})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took_seconds", Help: "x", Buckets: []float64{1}})
	clock := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: clocks[0], Help: "x"}, func() float64 { return float64(time.Now().Unix()) + 3601 })
	other := prometheus.NewGauge(prometheus.GaugeOpts{Name: "other", Help: "x"})
	registry.MustRegister(calls, took, clock, other)
	calls.WithLabelValues("failed").Add(3)
	took.Observe(0.5)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	scraper := NewScraper([]string{"up", "calls_total", "took_seconds_bucket", clocks[0]}, func() []string { return []string{server.URL, ""} })
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
	labels := func(instance string) string { return `instance="` + instance + `", job="` + job + `"` }
	for series, want := range map[string]string{
		`up{` + labels("manager-1") + `}`:                             "1",
		`up{` + labels("manager-2") + `}`:                             "0",
		`calls_total{` + labels("manager-1") + `, outcome="failed"}`:  "3",
		`took_seconds_bucket{` + labels("manager-1") + `, le="1"}`:    "1",
		`took_seconds_bucket{` + labels("manager-1") + `, le="+Inf"}`: "1",
		`lifecycle_mgr_clock_seconds{` + labels("manager-1") + `}`:    "360",
	} {
		if got := recording.Series[series]; !strings.HasPrefix(got, want) || want != "360" && got != want {
			t.Errorf("%s is %q, want %q", series, got, want)
		}
	}
	if len(recording.Series) != 6 || recording.Samples != 1 {
		t.Errorf("%d samples of %q", recording.Samples, slices.Sorted(maps.Keys(recording.Series)))
	}
}
