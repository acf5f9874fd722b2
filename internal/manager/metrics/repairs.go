package metrics

import "github.com/prometheus/client_golang/prometheus"

// Repairs counts what was put right in runtimes that another client had put wrong. There are no labels: which module it was is told by the
// events and the log, and the first one is an increase.
type Repairs struct{ definitions, contested prometheus.Counter }

// NewRepairs registers with registry.
func NewRepairs(registry prometheus.Registerer) (*Repairs, error) {
	r := &Repairs{
		definitions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lifecycle_mgr_restored_definitions_total",
			Help: "CustomResourceDefinitions of modules that were deleted in a runtime, with every object of their kinds, and made again.",
		}),
		contested: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lifecycle_mgr_contested_fields_total",
			Help: "How often fields were put back that had been put back a moment before: another client keeps changing them.",
		}),
	}
	if err := registry.Register(r.definitions); err != nil {
		return nil, err
	}
	return r, registry.Register(r.contested)
}

// DefinitionRestored counts a definition.
func (r *Repairs) DefinitionRestored() { r.definitions.Inc() }

// FieldsContested counts a round of a fight.
func (r *Repairs) FieldsContested() { r.contested.Inc() }
