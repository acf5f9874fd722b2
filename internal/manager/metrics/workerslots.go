package metrics

import "github.com/prometheus/client_golang/prometheus"

// WatchYielded publishes how many requests of a controller continue without a worker slot, because their runtime is slow to respond.
func WatchYielded(registry prometheus.Registerer, controller string, yielded func() int) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "lifecycle_mgr_yielded_reconciles",
		Help:        "How many reconciles go on beside those that count as concurrent, because their runtime is late with an answer.",
		ConstLabels: prometheus.Labels{"controller": controller},
	}, func() float64 { return float64(yielded()) }))
}
