package metrics

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The clusters whose calls are told apart. Runtimes are counted together: a label with their hosts would be one for each Kyma.
const (
	Hub     = "hub"
	Runtime = "runtime"
)

var (
	callKinds    = []string{"read", "write", "watch"}
	callOutcomes = []string{"answered", "conflict", "expired", "throttled", "forbidden", "failed", "unanswered"}
	// callBuckets reach from a call within a data centre to the time after which one is given up.
	callBuckets = []float64{0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30}
)

// APICalls counts the calls to API servers by what became of them.
type APICalls struct {
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	unknown prometheus.Counter
}

// NewAPICalls registers with registry. Every series is there from the start, so that the first failure is an increase.
func NewAPICalls(registry prometheus.Registerer) (*APICalls, error) {
	a := &APICalls{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lifecycle_mgr_api_calls_total",
			Help: "Calls to the API servers of the hub and of runtimes by what became of them. A watch counts when it begins.",
		}, []string{"cluster", "call", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lifecycle_mgr_api_call_seconds", Help: "How long reads and writes wait for the answer of an API server.", Buckets: callBuckets,
		}, []string{"cluster"}),
		unknown: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lifecycle_mgr_hub_unknown_fields_total",
			Help: "Writes of which the hub dropped a field, since its definitions are older than the manager.",
		}),
	}
	for _, cluster := range []string{Hub, Runtime} {
		a.seconds.WithLabelValues(cluster)
		for _, call := range callKinds {
			for _, outcome := range callOutcomes {
				a.total.WithLabelValues(cluster, call, outcome)
			}
		}
	}
	for _, collector := range []prometheus.Collector{a.total, a.seconds, a.unknown} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// To returns a wrapper for transports to a cluster, Hub or Runtime.
func (a *APICalls) To(cluster string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return &countingTransport{calls: a, cluster: cluster, next: next}
	}
}

// countingTransport counts the calls of a transport.
type countingTransport struct {
	calls   *APICalls
	cluster string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c *countingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	begun, call := time.Now(), callOf(req)
	resp, err := c.next.RoundTrip(req)
	c.calls.total.WithLabelValues(c.cluster, call, outcomeOf(resp, err)).Inc()
	if call != "watch" {
		c.calls.seconds.WithLabelValues(c.cluster).Observe(time.Since(begun).Seconds())
	}
	if err == nil && c.cluster == Hub && dropsField(resp) {
		c.calls.unknown.Inc()
	}
	return resp, err
}

func callOf(req *http.Request) string {
	switch {
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		return "write"
	case strings.Contains(req.URL.RawQuery, "watch=true"):
		return "watch"
	default:
		return "read"
	}
}

func outcomeOf(resp *http.Response, err error) string {
	switch {
	case err != nil:
		return "unanswered"
	case resp.StatusCode >= http.StatusInternalServerError:
		return "failed"
	}
	switch resp.StatusCode {
	case http.StatusConflict:
		return "conflict"
	case http.StatusGone:
		return "expired"
	case http.StatusTooManyRequests:
		return "throttled"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "forbidden"
	default:
		return "answered"
	}
}

// dropsField reports whether an API server warns that it did not store a field of a write, as its definition of the kind has no such field.
func dropsField(resp *http.Response) bool {
	for _, warning := range resp.Header["Warning"] {
		if strings.Contains(warning, "unknown field") {
			return true
		}
	}
	return false
}
