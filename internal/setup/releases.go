package setup

import (
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kyma-project/lifecycle-manager/internal/controller/release"
	"github.com/kyma-project/lifecycle-manager/internal/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
)

// releaseWorkers is how many mandatory modules are removed at once.
const releaseWorkers = 2

// newReleases holds the releases of mandatory modules until those are gone.
func newReleases(mgr ctrl.Manager, states *metrics.States) *release.Reconciler {
	return &release.Reconciler{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("lifecycle-manager"), Metrics: states,
	}
}

// newWindows reads the maintenance policy and publishes whether it is in force.
func newWindows(c *Config, registry prometheus.Registerer, log logr.Logger) (*policy.WindowFile, error) {
	windows := policy.Windows(c.WindowsFile, c.WindowsSize, log.WithName("windows"))
	return windows, metrics.WatchWindows(registry, windows.Good)
}
