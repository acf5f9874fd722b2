package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// mandatory publishes the number of mandatory modules, and their states in each Kyma.
type mandatory struct {
	count  prometheus.Gauge
	states *prometheus.GaugeVec

	mu   sync.Mutex
	seen map[types.NamespacedName]map[pair]struct{}
}

// pair is one time series of a Kyma.
type pair struct {
	module string
	state  v1beta2.State
}

func newMandatory() *mandatory {
	return &mandatory{
		count: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lifecycle_mgr_mandatory_modules", Help: "How many modules every Kyma has.",
		}),
		states: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lifecycle_mgr_mandatory_module_state",
			Help: "Current state of a mandatory module of a Kyma: 1 for the state it is in, 0 for those it has left.",
		}, []string{labelModule, labelKyma, labelState}),
		seen: map[types.NamespacedName]map[pair]struct{}{},
	}
}

// CountMandatory publishes the number of mandatory modules.
func (s *States) CountMandatory(modules int) { s.mandatory.count.Set(float64(modules)) }

// ObserveMandatory publishes the states of a Kyma's mandatory modules, by name. The series of other modules are deleted.
func (s *States) ObserveMandatory(namespace, name string, states map[string]v1beta2.State) {
	if !s.perKyma {
		return // the Kyma's own status tells whether they are ready, and is counted
	}
	s.mandatory.observe(types.NamespacedName{Namespace: namespace, Name: name}, states)
}

func (m *mandatory) observe(kyma types.NamespacedName, states map[string]v1beta2.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for old := range m.seen[kyma] {
		if _, still := states[old.module]; !still {
			m.states.DeleteLabelValues(old.module, kyma.Name, string(old.state))
			delete(m.seen[kyma], old)
			continue
		}
		m.states.WithLabelValues(old.module, kyma.Name, string(old.state)).Set(0)
	}
	for module, state := range states {
		if m.seen[kyma] == nil {
			m.seen[kyma] = map[pair]struct{}{}
		}
		m.seen[kyma][pair{module, state}] = struct{}{}
		m.states.WithLabelValues(module, kyma.Name, string(state)).Set(1)
	}
	if len(states) == 0 {
		delete(m.seen, kyma)
	}
}

// WatchWindows publishes whether the maintenance policy is in force with the current content of its file.
func WatchWindows(registry prometheus.Registerer, good func() bool) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lifecycle_mgr_maintenance_window_config_read_success",
		Help: "1 when the maintenance policy was read and is in force, 0 when there is none or its file is not understood.",
	}, func() float64 {
		if good() {
			return 1
		}
		return 0
	}))
}
