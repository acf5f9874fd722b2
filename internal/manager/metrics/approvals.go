package metrics

import (
	"unique"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// WatchApprovals publishes whether the approval policy is in force with the current content of its file.
func WatchApprovals(registry prometheus.Registerer, good func() bool) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lifecycle_mgr_approval_policy_read_success",
		Help: "1 when the approval policy is in force as its file says, 0 when the file is not understood and the rules before it are in force.",
	}, func() float64 {
		if good() {
			return 1
		}
		return 0
	}))
}

// CountRenders returns a function that counts the contents that were rendered to find out what a version asks for.
func CountRenders(registry prometheus.Registerer) (func(), error) {
	renders := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lifecycle_mgr_approval_renders_total",
		Help: "How many contents were rendered to find out what a version that waits for consent asks for.",
	})
	return renders.Inc, registry.Register(renders)
}

// waiting is a module with a version that waits for the consent of a side.
type waiting struct{ module, side unique.Handle[string] }

// waitingOf returns the modules of a Kyma with a version that waits for consent.
func waitingOf(kyma *v1beta2.Kyma) []waiting {
	var found []waiting
	for i := range kyma.Status.Modules {
		entry := &kyma.Status.Modules[i]
		if entry.Pending == nil {
			continue
		}
		for _, side := range entry.Pending.From {
			found = append(found, waiting{intern(entry.Name), intern(side)})
		}
	}
	return found
}

// newWaitingDesc describes how many Kymas wait for consent.
func newWaitingDesc() *prometheus.Desc {
	return prometheus.NewDesc("lifecycle_mgr_approval_pending",
		"How many Kymas have a version of a module that waits for the consent of a side: Hub, Runtime, or Any where one of them is enough.",
		[]string{labelModule, "side"}, nil)
}

// collectWaiting sends the number of Kymas for each module and side.
func collectWaiting(desc *prometheus.Desc, counted map[waiting]int, into chan<- prometheus.Metric) {
	for id, number := range counted {
		into <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(number), id.module.Value(), id.side.Value())
	}
}
