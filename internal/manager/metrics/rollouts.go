package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Rollouts publishes how far the rollouts are that this replica carries out. The series are created when Prometheus scrapes them.
type Rollouts struct {
	phases, kymas *prometheus.Desc
	halted        *prometheus.CounterVec

	mu   sync.Mutex
	seen map[types.NamespacedName][]v1beta2.RolloutChannel
}

// NewRollouts registers with registry.
func NewRollouts(registry prometheus.Registerer) (*Rollouts, error) {
	r := &Rollouts{
		phases: prometheus.NewDesc("lifecycle_mgr_rollout_phase",
			"Phase of the rollout of a module in a channel: 1 for the phase that it is in. The channel of a mandatory module is empty.",
			[]string{labelModule, "channel", "phase"}, nil),
		kymas: prometheus.NewDesc("lifecycle_mgr_rollout_kymas",
			"How many Kymas of a wave are waiting, updating, ready, failed, forgiven, broken before the rollout, or skipped.",
			[]string{labelModule, "channel", "wave", labelState}, nil),
		halted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lifecycle_mgr_rollout_halted_total", Help: "How many times the rollout of a module in a channel has halted.",
		}, []string{labelModule, "channel"}),
		seen: map[types.NamespacedName][]v1beta2.RolloutChannel{},
	}
	if err := registry.Register(r.halted); err != nil {
		return nil, err
	}
	return r, registry.Register(r)
}

// ObserveRollout publishes the status of a rollout, in place of what was known of it.
func (r *Rollouts) ObserveRollout(rollout *v1beta2.ModuleRollout) {
	channels := make([]v1beta2.RolloutChannel, 0, len(rollout.Status.Channels))
	for i := range rollout.Status.Channels {
		channel := &rollout.Status.Channels[i]
		channels = append(channels, v1beta2.RolloutChannel{Name: channel.Name, Phase: channel.Phase, Waves: channel.Waves})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[types.NamespacedName{Namespace: rollout.Namespace, Name: rollout.Name}] = channels
}

// RolloutHalted counts a rollout that halted.
func (r *Rollouts) RolloutHalted(module, channel string) {
	r.halted.WithLabelValues(module, channel).Inc()
}

// ForgetRollout removes what is published of a rollout that is gone, or that another replica carries out.
func (r *Rollouts) ForgetRollout(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, types.NamespacedName{Namespace: namespace, Name: name})
}

// Describe implements prometheus.Collector.
func (r *Rollouts) Describe(into chan<- *prometheus.Desc) {
	into <- r.phases
	into <- r.kymas
}

// Collect implements prometheus.Collector. Two rollouts of the same name in two namespaces share their series: their Kymas are added up.
func (r *Rollouts) Collect(into chan<- prometheus.Metric) {
	type phase struct{ module, channel, phase string }
	type kymas struct{ module, channel, wave, state string }
	phases, counted := map[phase]bool{}, map[kymas]int32{}
	r.mu.Lock()
	for key, channels := range r.seen {
		for i := range channels {
			channel := &channels[i]
			phases[phase{key.Name, channel.Name, string(channel.Phase)}] = channel.Phase != ""
			for _, wave := range channel.Waves {
				for state, number := range statesOf(wave) {
					counted[kymas{key.Name, channel.Name, wave.Name, state}] += number
				}
			}
		}
	}
	r.mu.Unlock()
	for id, known := range phases {
		if known {
			into <- prometheus.MustNewConstMetric(r.phases, prometheus.GaugeValue, 1, id.module, id.channel, id.phase)
		}
	}
	for id, number := range counted {
		into <- prometheus.MustNewConstMetric(r.kymas, prometheus.GaugeValue, float64(number), id.module, id.channel, id.wave, id.state)
	}
}

// statesOf returns the Kymas of a wave by their state.
func statesOf(wave v1beta2.RolloutWaveStatus) map[string]int32 {
	return map[string]int32{
		"waiting": wave.Waiting, "updating": wave.Updating, "ready": wave.Ready, "failed": wave.Failed, "forgiven": wave.Forgiven,
		"broken_before": wave.BrokenBefore, "skipped": wave.Skipped,
	}
}
