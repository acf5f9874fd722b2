package setup

import (
	"context"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing/otlp"
)

// startTraces returns what records the passes of both controllers, and what sends the last spans at the end. Without an endpoint nothing is
// recorded.
func startTraces(
	ctx context.Context, endpoint string, log logr.Logger, registry prometheus.Registerer,
) (traces *tracing.Traces, stop func(), err error) {
	if endpoint == "" {
		return nil, func() {}, nil
	}
	counts, err := metrics.NewSpans(registry)
	if err != nil {
		return nil, nil, err
	}
	exporter, err := otlp.Start(ctx, endpoint, counts, log)
	if err != nil {
		return nil, nil, err
	}
	return tracing.New(exporter.Tracer()), exporter.Stop, nil
}
