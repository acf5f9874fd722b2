// Package metrics publishes the states of Kymas and their modules for Prometheus.
//
// Names and labels are upstream's, so that its dashboards keep working. A state that an object is in has the value 1, one that
// it has left 0, and one that it never had no series at all. The series are deleted with their object.
//
// Non-goals: it does not watch objects; the controllers report what they have seen.
package metrics

import (
	"slices"
	"strings"
	"sync"
	"unique"

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

// States publishes the states of Kymas and modules. It keeps compact records, and creates the series when Prometheus scrapes them: gauges
// with their labels take several KiB for each Kyma.
type States struct {
	kymas, modules, waiting *prometheus.Desc
	counts                  counts
	mandatory               *mandatory
	// perKyma is whether each Kyma has series of its own; the counts are there in any case.
	perKyma bool

	mu   sync.Mutex
	seen map[types.NamespacedName]*kymaState
}

// kymaState holds the states of a Kyma and its modules.
type kymaState struct {
	shoot, instance string
	states          []state
	waiting         []waiting
	counted         unique.Handle[countedKyma]
	modules         []unique.Handle[countedModule]
}

// state is that of a Kyma or, with a name, of one of its modules; now means that it is the current one.
type state struct {
	module, name unique.Handle[string] // there are few values, and many Kymas
	now          bool
}

// New registers the states with registry. Without perKyma, only the counts of Kymas and modules are published, and no series has the name
// of a Kyma.
func New(registry prometheus.Registerer, perKyma bool) (*States, error) {
	s := &States{
		perKyma: perKyma, counts: newCounts(),
		kymas: prometheus.NewDesc("lifecycle_mgr_kyma_state",
			"Current state of a Kyma: 1 for the state it is in, 0 for those it has left.",
			[]string{labelKyma, labelState, labelShoot, labelInstance}, nil),
		modules: prometheus.NewDesc("lifecycle_mgr_module_state",
			"Current state of a module of a Kyma: 1 for the state it is in, 0 for those it has left.",
			[]string{labelModule, labelKyma, labelState, labelShoot, labelInstance}, nil),
		waiting:   newWaitingDesc(),
		mandatory: newMandatory(),
		seen:      map[types.NamespacedName]*kymaState{},
	}
	collectors := []prometheus.Collector{s, s.mandatory.count}
	if perKyma {
		collectors = append(collectors, s.mandatory.states)
	}
	for _, collector := range collectors {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Describe implements prometheus.Collector.
func (s *States) Describe(into chan<- *prometheus.Desc) {
	if s.perKyma {
		into <- s.kymas
		into <- s.modules
	}
	into <- s.waiting
	s.counts.describe(into)
}

// Collect implements prometheus.Collector. Two Kymas of the same name in two namespaces share a series, as in upstream: the current state
// of either counts.
func (s *States) Collect(into chan<- prometheus.Metric) {
	type series struct{ module, kyma, name, shoot, instance string }
	told, counted, all := map[series]bool{}, map[waiting]int{}, newTally()
	s.mu.Lock()
	for key, kyma := range s.seen {
		all.add(kyma)
		for _, one := range kyma.states {
			id := series{one.module.Value(), key.Name, one.name.Value(), kyma.shoot, kyma.instance}
			told[id] = told[id] || one.now
		}
		for _, one := range kyma.waiting {
			counted[one]++
		}
	}
	s.mu.Unlock()
	s.counts.collect(all, into)
	collectWaiting(s.waiting, counted, into)
	for id, now := range told {
		value := 0.0
		if now {
			value = 1
		}
		if id.module == "" {
			into <- prometheus.MustNewConstMetric(s.kymas, prometheus.GaugeValue, value, id.kyma, id.name, id.shoot, id.instance)
		} else {
			into <- prometheus.MustNewConstMetric(s.modules, prometheus.GaugeValue, value, id.module, id.kyma, id.name, id.shoot, id.instance)
		}
	}
}

// ObserveKyma records the state of a Kyma and of each of its modules. Series of modules that it no longer has are deleted.
func (s *States) ObserveKyma(kyma *v1beta2.Kyma) {
	now := &kymaState{instance: kyma.Labels[instanceIDLabel], waiting: waitingOf(kyma)}
	now.shoot, _, _ = strings.Cut(kyma.Annotations[domainAnnotation], ".")
	now.counted, now.modules = countedOf(kyma)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: kyma.Namespace, Name: kyma.Name}
	if s.perKyma {
		now.states = statesAfter(s.seen[key], kyma)
	}
	s.seen[key] = now
}

// statesAfter returns the states of a Kyma and its modules, and those that they have left.
func statesAfter(before *kymaState, kyma *v1beta2.Kyma) []state {
	var states []state
	if kyma.Status.State != "" {
		states = append(states, state{noModule, intern(kyma.Status.State), true})
	}
	present := map[unique.Handle[string]]bool{noModule: true}
	for i := range kyma.Status.Modules {
		module := &kyma.Status.Modules[i]
		name := intern(module.Name)
		present[name] = true
		states = append(states, state{name, intern(module.State), true})
	}
	if before != nil {
		for _, old := range before.states {
			left := func(one state) bool { return one.module == old.module && one.name == old.name }
			if present[old.module] && !slices.ContainsFunc(states, left) {
				states = append(states, state{old.module, old.name, false})
			}
		}
	}
	return slices.Clip(states)
}

// noModule replaces the module's name in the state of the Kyma itself.
var noModule = unique.Make("")

// intern interns a text, so that it is stored once for all Kymas.
func intern[T ~string](text T) unique.Handle[string] { return unique.Make(string(text)) }

// ForgetKyma removes the series of a deleted Kyma.
func (s *States) ForgetKyma(namespace, name string) {
	s.ObserveMandatory(namespace, name, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, types.NamespacedName{Namespace: namespace, Name: name})
}
