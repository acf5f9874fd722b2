package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WatchClock publishes the manager's clock: deadlines, windows and leases depend on it.
func WatchClock(registry prometheus.Registerer, now func() time.Time) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lifecycle_mgr_clock_seconds",
		Help: "Time of the manager's clock when it was asked, in seconds since 1970: it should be that of the sample.",
	}, func() float64 { return float64(now().UnixMilli()) / 1000 }))
}
