package metrics

import "github.com/prometheus/client_golang/prometheus"

// Shards publishes how the work is distributed among replicas.
type Shards struct{ fenced *prometheus.CounterVec }

// NewShards registers with registry. owned returns how many buckets this replica works on.
func NewShards(registry prometheus.Registerer, owned func() int) (*Shards, error) {
	s := &Shards{fenced: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lifecycle_mgr_fenced_writes_total",
		Help: "Writes that were not sent, because what they belong to may be another replica's by now, or is.",
	}, []string{"reason"})}
	buckets := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lifecycle_mgr_buckets", Help: "How many of the 64 buckets of Kymas this replica works on.",
	}, func() float64 { return float64(owned()) })
	if err := registry.Register(s.fenced); err != nil {
		return nil, err
	}
	return s, registry.Register(buckets)
}

// Fenced counts a write that was not sent.
func (s *Shards) Fenced(reason string) { s.fenced.WithLabelValues(reason).Inc() }
