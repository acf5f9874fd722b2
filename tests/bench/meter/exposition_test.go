package meter

import (
	"math"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestMetricsOfAProgram(t *testing.T) {
	registry := prometheus.NewRegistry()
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total", Help: "x"}, []string{"method", "code"})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took_seconds", Help: "x", Buckets: []float64{0.1, 1, 10}})
	registry.MustRegister(requests, took)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	scrape := func() *Exposition {
		e, err := Scrape(t.Context(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	took.Observe(50)
	before := scrape()
	requests.WithLabelValues("GET", "200").Add(7)
	requests.WithLabelValues("PATCH", "200").Add(3)
	requests.WithLabelValues("PATCH", "409").Add(1)
	for range 99 {
		took.Observe(0.5)
	}
	took.Observe(5)
	after := scrape()
	for name, c := range map[string]struct{ got, want float64 }{
		"all series":                                {after.Sum("requests_total"), 11},
		"those of a label":                          {after.Sum("requests_total", "method", "PATCH"), 4},
		"those of two labels":                       {after.Sum("requests_total", "method", "PATCH", "code", "409"), 1},
		"a value that no series has":                {after.Sum("requests_total", "method", "PUT"), 0},
		"a metric that no one counted":              {after.Sum("nothing_total"), 0},
		"the number of observations":                {after.Sum("took_seconds"), 101},
		"the sum of what was observed":              {after.Total("took_seconds"), 50 + 99*0.5 + 5},
		"half lie below a bucket's bound":           {after.Quantile(before, 0.5, "took_seconds"), 1},
		"the last lies in the next bucket":          {after.Quantile(before, 1, "took_seconds"), 10},
		"what lies beyond all buckets has no bound": {after.Quantile(nil, 1, "took_seconds"), math.Inf(1)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %g, want %g", name, c.got, c.want)
		}
	}
	if got := after.Quantile(after, 0.5, "took_seconds"); !math.IsNaN(got) {
		t.Errorf("of nothing, the median is %g", got)
	}
	if diff := cmp.Diff(map[string]float64{"GET": 7, "PATCH": 4}, after.By("requests_total", "method")); diff != "" {
		t.Error(diff)
	}
	if before.Has("requests_total") || !after.Has("requests_total") {
		t.Error("a metric is there before it has a series, or not there with one")
	}
}

func TestExposition_WhatIsNoMetrics(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte("<html>"))
	}))
	defer server.Close()
	for path, want := range map[string]string{"/": "no metrics", "/refused": "403"} {
		if _, err := Scrape(t.Context(), server.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := Live(t.Context(), server.URL+path); err == nil {
			t.Errorf("%s has a heap", path)
		}
	}
}

func TestExposition_WhatLivesInAProgram(t *testing.T) {
	server := httptest.NewServer(http.DefaultServeMux)
	defer server.Close()
	before, err := Live(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	held := make([]byte, 32<<20)
	after, err := Live(t.Context(), server.URL)
	runtime.KeepAlive(held)
	if err != nil {
		t.Fatal(err)
	}
	if grew := after.Live - before.Live; grew < 31<<20 || grew > 40<<20 {
		t.Errorf("32 MiB that are held raise what lives by %d bytes", grew)
	}
	if after.Stacks < 1<<10 || after.System < after.Live || after.Goroutines < 2 || after.Objects < 100 {
		t.Errorf("got %+v", after)
	}
	folder := t.TempDir()
	for name, err := range map[string]error{
		"heap": SaveHeap(t.Context(), server.URL, filepath.Join(folder, "heap")),
		"cpu":  SaveCPU(t.Context(), server.URL, filepath.Join(folder, "cpu"), time.Second),
	} {
		if info, missing := os.Stat(filepath.Join(folder, name)); err != nil || missing != nil || info.Size() == 0 {
			t.Errorf("the %s profile: %v, %v", name, err, missing)
		}
	}
}

func TestExposition_SamplesHaveTheBucketsOfHistograms(t *testing.T) {
	registry := prometheus.NewRegistry()
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took_seconds", Help: "x", Buckets: []float64{1}})
	registry.MustRegister(took)
	took.Observe(5)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	e, err := Scrape(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := e.Samples()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, sample := range samples {
		got[sample.Metric.String()] = float64(sample.Value)
	}
	want := map[string]float64{
		`took_seconds_bucket{le="1"}`: 0, `took_seconds_bucket{le="+Inf"}`: 1, `took_seconds_sum`: 5, `took_seconds_count`: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples differ (-want +got):\n%s", diff)
	}
}
