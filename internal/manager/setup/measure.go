package setup

import (
	"context"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientmetrics "k8s.io/client-go/tools/metrics"

	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing"
)

// trackPhases returns the Tracker of both controllers, which publishes what it observes, and records it in traces.
func trackPhases(registry prometheus.Registerer, traces *tracing.Traces) (*phases.Tracker, error) {
	published, err := metrics.NewPhases(registry)
	if err != nil {
		return nil, err
	}
	return &phases.Tracker{
		Now: time.Now,
		Observe: func(e phases.Ended) {
			published.Observe(e.Module, string(e.Phase), e.To.Sub(e.From))
			traces.Phase(e.Manifest, e.Module, string(e.Phase), e.Phase == phases.Ready, e.From, e.To)
		},
	}, nil
}

// allRuntimes replaces the hosts of runtimes in the metrics of client-go.
const allRuntimes = "runtimes"

// countRuntimesTogether makes client-go count the requests to all runtimes together: rest_client_requests_total has a label with the host,
// which is a series for each Kyma. It is called before the manager starts.
func countRuntimesTogether(hub string) {
	clientmetrics.RequestResult = &oneHost{next: clientmetrics.RequestResult, hub: serverOf(hub)}
}

// serverOf returns the host of the address of an API server, which may have no scheme.
func serverOf(address string) string {
	if at, err := url.Parse(address); err == nil && at.Host != "" {
		return at.Host
	}
	return address
}

// oneHost counts the requests to any host but the hub as those to one.
type oneHost struct {
	next clientmetrics.ResultMetric
	hub  string
}

// Increment implements metrics.ResultMetric of client-go.
func (o *oneHost) Increment(ctx context.Context, code, method, host string) {
	if host != o.hub {
		host = allRuntimes
	}
	o.next.Increment(ctx, code, method, host)
}
