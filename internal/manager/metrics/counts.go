package metrics

import (
	"unique"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// counts describes how many Kymas and modules are in which state. Unlike the states of each Kyma, their number does not grow with the
// fleet.
type counts struct{ kymas, modules, versions, mandatory *prometheus.Desc }

// countedKyma is what a Kyma is counted by; countedModule what one of its modules is. There are few values, and many Kymas.
type (
	countedKyma   struct{ state, reason, mandatory string }
	countedModule struct{ module, state, reason, channel, version string }
)

func newCounts() counts {
	return counts{
		kymas: prometheus.NewDesc("lifecycle_mgr_kymas",
			"How many Kymas are in a state for a reason: that of their condition Ready.", []string{labelState, labelReason}, nil),
		modules: prometheus.NewDesc("lifecycle_mgr_modules",
			"How many Kymas have a module in a state for a reason; the reason of one that is ready and waits for nothing is empty.",
			[]string{labelModule, labelState, labelReason}, nil),
		versions: prometheus.NewDesc("lifecycle_mgr_module_versions",
			"How many Kymas have a version of a module, installed or being installed, by the channel that it came from; empty for an exact version.",
			[]string{labelModule, "channel", "version"}, nil),
		mandatory: prometheus.NewDesc("lifecycle_mgr_kymas_without_mandatory",
			"How many Kymas have mandatory modules that are not ready, by the reason of condition MandatoryModules.", []string{labelReason}, nil),
	}
}

// describe implements a part of prometheus.Collector.
func (c *counts) describe(into chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.kymas, c.modules, c.versions, c.mandatory} {
		into <- desc
	}
}

// countedOf returns what a Kyma and its modules are counted by.
func countedOf(kyma *v1beta2.Kyma) (unique.Handle[countedKyma], []unique.Handle[countedModule]) {
	counted := countedKyma{state: string(kyma.Status.State)}
	if ready := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil {
		counted.reason = ready.Reason
	}
	if told := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionMandatoryModules); told != nil &&
		!conditions.IsTrue(kyma.Status.Conditions, v1beta2.ConditionMandatoryModules) {
		counted.mandatory = told.Reason
	}
	modules := make([]unique.Handle[countedModule], 0, len(kyma.Status.Modules))
	for i := range kyma.Status.Modules {
		entry := &kyma.Status.Modules[i]
		modules = append(modules, unique.Make(countedModule{entry.Name, string(entry.State), entry.Reason, entry.Channel, entry.Version}))
	}
	return unique.Make(counted), modules
}

// tally counts Kymas and modules while they are collected.
type tally struct {
	kymas   map[unique.Handle[countedKyma]]int
	modules map[unique.Handle[countedModule]]int
}

func newTally() tally {
	return tally{map[unique.Handle[countedKyma]]int{}, map[unique.Handle[countedModule]]int{}}
}

func (t tally) add(kyma *kymaState) {
	t.kymas[kyma.counted]++
	for _, one := range kyma.modules {
		t.modules[one]++
	}
}

// collect sends what was counted.
func (c *counts) collect(t tally, into chan<- prometheus.Metric) {
	kymas, mandatory := map[[2]string]int{}, map[[1]string]int{}
	for handle, count := range t.kymas {
		one := handle.Value()
		kymas[[2]string{one.state, one.reason}] += count
		if one.mandatory != "" {
			mandatory[[1]string{one.mandatory}] += count
		}
	}
	states, versions := map[[3]string]int{}, map[[3]string]int{}
	for handle, count := range t.modules {
		one := handle.Value()
		states[[3]string{one.module, one.state, one.reason}] += count
		if one.version != "" {
			versions[[3]string{one.module, one.channel, one.version}] += count
		}
	}
	for labels, count := range kymas {
		into <- gauge(c.kymas, count, labels[:]...)
	}
	for labels, count := range mandatory {
		into <- gauge(c.mandatory, count, labels[:]...)
	}
	for labels, count := range states {
		into <- gauge(c.modules, count, labels[:]...)
	}
	for labels, count := range versions {
		into <- gauge(c.versions, count, labels[:]...)
	}
}

func gauge(desc *prometheus.Desc, count int, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(count), labels...)
}
