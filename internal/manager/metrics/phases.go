package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// mostModules bounds the modules that have series of their own. The names come from the hub, and a hub has some dozens of modules.
	mostModules = 100
	// otherModules stands for those beyond that.
	otherModules = "(others)"
)

// phaseBuckets reach from what costs no call to a window that opens once a week.
var phaseBuckets = []float64{0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600}

// Phases publishes what the time of installations and upgrades is spent on.
type Phases struct {
	seconds *prometheus.HistogramVec

	mu      sync.Mutex
	modules map[string]bool
}

// NewPhases registers with registry.
func NewPhases(registry prometheus.Registerer) (*Phases, error) {
	p := &Phases{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lifecycle_mgr_module_phase_seconds",
			Help: "How long each phase of an installation or an upgrade took: window, queue, fetch, verify, apply, ready.", Buckets: phaseBuckets,
		}, []string{labelModule, "phase"}),
		modules: map[string]bool{},
	}
	return p, registry.Register(p.seconds)
}

// Observe records that a phase ended. The module is empty for a stand-alone Manifest.
func (p *Phases) Observe(module, phase string, took time.Duration) {
	p.seconds.WithLabelValues(p.known(module), phase).Observe(took.Seconds())
}

// known returns the name under which a module is published.
func (p *Phases) known(module string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.modules[module] && len(p.modules) >= mostModules {
		return otherModules
	}
	p.modules[module] = true
	return module
}
