package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestSpans_CountsFromZero(t *testing.T) {
	registry := prometheus.NewRegistry()
	spans, err := NewSpans(registry)
	if err != nil {
		t.Fatal(err)
	}
	spans.Sent(3)
	spans.Dropped("queue_full", 2)
	want := `
# HELP lifecycle_mgr_trace_spans_total Spans that were sent to the collector, or dropped since too many waited or since it did not take them.
# TYPE lifecycle_mgr_trace_spans_total counter
lifecycle_mgr_trace_spans_total{outcome="queue_full"} 2
lifecycle_mgr_trace_spans_total{outcome="refused"} 0
lifecycle_mgr_trace_spans_total{outcome="sent"} 3
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
