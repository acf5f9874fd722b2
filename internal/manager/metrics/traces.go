package metrics

import "github.com/prometheus/client_golang/prometheus"

// spanOutcomes are what becomes of a span that has ended.
var spanOutcomes = []string{"sent", "queue_full", "refused"}

// Spans counts the spans of traces.
type Spans struct{ total *prometheus.CounterVec }

// NewSpans registers with registry. Every series is there from the start, so that the first drop is an increase.
func NewSpans(registry prometheus.Registerer) (*Spans, error) {
	s := &Spans{total: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lifecycle_mgr_trace_spans_total",
		Help: "Spans that were sent to the collector, or dropped since too many waited or since it did not take them.",
	}, []string{"outcome"})}
	for _, outcome := range spanOutcomes {
		s.total.WithLabelValues(outcome)
	}
	return s, registry.Register(s.total)
}

// Sent counts spans that the collector has taken.
func (s *Spans) Sent(spans int) { s.total.WithLabelValues("sent").Add(float64(spans)) }

// Dropped counts spans that are lost for a reason.
func (s *Spans) Dropped(reason string, spans int) {
	s.total.WithLabelValues(reason).Add(float64(spans))
}
