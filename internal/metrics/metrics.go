// Package metrics answers: in which state are Kymas and their modules, for Prometheus?
//
// Names and labels are upstream's, so that its dashboards keep working. A state that an object is in has the value 1, one that
// it has left 0, and one that it never had no series at all. The series go with their object.
package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	labelKyma     = "kyma_name"
	labelModule   = "module_name"
	labelState    = "state"
	labelShoot    = "shoot"
	labelInstance = "instance_id"

	instanceIDLabel  = "kyma-project.io/instance-id"
	domainAnnotation = "skr-domain"
)

// States publishes the states of Kymas and modules.
type States struct {
	kymas, modules *prometheus.GaugeVec
	mandatory      *mandatory

	mu   sync.Mutex
	seen map[types.NamespacedName]map[series]struct{}
}

// series is one time series; an empty module means the Kyma itself.
type series struct{ module, state, shoot, instance string }

// New registers the gauges with registry.
func New(registry prometheus.Registerer) (*States, error) {
	s := &States{
		kymas: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lifecycle_mgr_kyma_state", Help: "Current state of a Kyma: 1 for the state it is in, 0 for those it has left.",
		}, []string{labelKyma, labelState, labelShoot, labelInstance}),
		modules: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lifecycle_mgr_module_state", Help: "Current state of a module of a Kyma: 1 for the state it is in, 0 for those it has left.",
		}, []string{labelModule, labelKyma, labelState, labelShoot, labelInstance}),
		mandatory: newMandatory(),
		seen:      map[types.NamespacedName]map[series]struct{}{},
	}
	for _, collector := range []prometheus.Collector{s.kymas, s.modules, s.mandatory.count, s.mandatory.states} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ObserveKyma publishes the state of a Kyma and of each of its modules.
func (s *States) ObserveKyma(kyma *v1beta2.Kyma) {
	shoot, _, _ := strings.Cut(kyma.Annotations[domainAnnotation], ".")
	instance := kyma.Labels[instanceIDLabel]
	now := map[series]struct{}{}
	if kyma.Status.State != "" {
		now[series{state: string(kyma.Status.State), shoot: shoot, instance: instance}] = struct{}{}
	}
	present := map[string]bool{"": true}
	for i := range kyma.Status.Modules {
		module := &kyma.Status.Modules[i]
		present[module.Name] = true
		now[series{module: module.Name, state: string(module.State), shoot: shoot, instance: instance}] = struct{}{}
	}
	s.publish(types.NamespacedName{Namespace: kyma.Namespace, Name: kyma.Name}, now, present)
}

func (s *States) publish(key types.NamespacedName, now map[series]struct{}, present map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen[key]
	if seen == nil {
		seen = map[series]struct{}{}
		s.seen[key] = seen
	}
	for old := range seen {
		if _, still := now[old]; still {
			continue
		}
		if !present[old.module] {
			s.remove(key.Name, old)
			delete(seen, old)
			continue
		}
		s.set(key.Name, old, 0)
	}
	for current := range now {
		s.set(key.Name, current, 1)
		seen[current] = struct{}{}
	}
}

func (s *States) set(kyma string, one series, value float64) {
	if one.module == "" {
		s.kymas.WithLabelValues(kyma, one.state, one.shoot, one.instance).Set(value)
		return
	}
	s.modules.WithLabelValues(one.module, kyma, one.state, one.shoot, one.instance).Set(value)
}

func (s *States) remove(kyma string, one series) {
	if one.module == "" {
		s.kymas.DeleteLabelValues(kyma, one.state, one.shoot, one.instance)
		return
	}
	s.modules.DeleteLabelValues(one.module, kyma, one.state, one.shoot, one.instance)
}

// ForgetKyma removes the series of a Kyma that is gone.
func (s *States) ForgetKyma(namespace, name string) {
	s.ObserveMandatory(namespace, name, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	for one := range s.seen[key] {
		s.remove(name, one)
	}
	delete(s.seen, key)
}
