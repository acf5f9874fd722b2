package setup

import (
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/modulereleasemeta"
	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
)

// releaseWorkers is the number of mandatory modules that are removed at once.
const releaseWorkers = 2

// newReleases returns the controller that holds the releases of mandatory modules until the modules are gone.
func (a *assembly) newReleases() *modulereleasemeta.Reconciler {
	return &modulereleasemeta.Reconciler{
		Client: a.mgr.GetClient(), Reader: a.mgr.GetAPIReader(), Events: a.mgr.GetEventRecorder("lifecycle-manager"), Metrics: a.states,
		Shard: a.sharing.owner(), Moves: a.sharing.moves(),
	}
}

// newWindows reads the maintenance policy and publishes whether it is in force.
func newWindows(c *Config, registry prometheus.Registerer, log logr.Logger) (*policy.WindowFile, error) {
	windows := policy.Windows(c.WindowsFile, c.WindowsSize, log.WithName("windows"))
	return windows, metrics.WatchWindows(registry, windows.Good)
}
