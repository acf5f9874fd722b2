package metrics

import "github.com/prometheus/client_golang/prometheus"

// Requeues counts why objects are reconciled again without an event, by upstream's reasons where the step is the same. Upstream also counts
// every reconcile of a ready object; here such objects are not requeued, so only problems and waits count.
type Requeues struct{ total *prometheus.CounterVec }

// NewRequeues registers the counter with registry.
func NewRequeues(registry prometheus.Registerer) (*Requeues, error) {
	r := &Requeues{total: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lifecycle_mgr_requeue_reason_total",
		Help: "How often an object is looked at again without an event: intended after a pause, or unexpected after an error.",
	}, []string{"requeue_reason", "requeue_type"})}
	return r, registry.Register(r.total)
}

// Requeued counts one requeue.
func (r *Requeues) Requeued(reason string, unexpected bool) {
	kind := "intended"
	if unexpected {
		kind = "unexpected"
	}
	r.total.WithLabelValues(reason, kind).Inc()
}
