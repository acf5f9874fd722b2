package manifest

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// keptProbes bounds the cache of compiled expressions.
const keptProbes = 512

// probes compiles each expression once.
type probes struct {
	once     sync.Once
	compiled *lru.Cache
}

func (p *probes) of(expression string) (*health.Probe, error) {
	p.once.Do(func() { p.compiled = lru.New(keptProbes) })
	if known, ok := p.compiled.Get(expression); ok {
		probe, _ := known.(*health.Probe)
		return probe, nil
	}
	probe, err := health.CompileProbe(expression)
	if err == nil {
		p.compiled.Add(expression, probe)
	}
	return probe, err
}

// compile refuses invalid probes, before anything is changed.
func (r *Reconciler) compile(w *scope) error {
	for _, check := range w.stateChecks() {
		if err := check.Validate(); err != nil {
			return &runtimes.Problem{Reason: v1beta2.ReasonProbeInvalid, Message: fmt.Sprintf("spec.customStateCheck %q: %v", check.JSONPath, err)}
		}
	}
	for i := range w.manifest.Spec.Probes {
		probe := &w.manifest.Spec.Probes[i]
		if _, err := r.probes.of(probe.Expression); err != nil {
			return &runtimes.Problem{Reason: v1beta2.ReasonProbeInvalid, Message: fmt.Sprintf("spec.probes %q: %v", probe.Name, err)}
		}
	}
	return nil
}

// compiledProbes returns the probes of the spec without the invalid ones, which compile refuses.
func (r *Reconciler) compiledProbes(w *scope) []engine.Probe {
	compiled := make([]engine.Probe, 0, len(w.manifest.Spec.Probes))
	for i := range w.manifest.Spec.Probes {
		probe := &w.manifest.Spec.Probes[i]
		if condition, err := r.probes.of(probe.Expression); err == nil {
			kind := schema.GroupKind{Group: probe.Group, Kind: probe.Kind}
			compiled = append(compiled, engine.Probe{Name: probe.Name, Kind: kind, Message: probe.Message, Condition: condition})
		}
	}
	return compiled
}

// healthy checks what is installed, and then the probes: as long as one of them fails, the Manifest is not ready.
func (r *Reconciler) healthy(w *scope) passResult {
	found := w.healthy()
	if found.state != v1beta2.StateReady || len(w.manifest.Spec.Probes) == 0 {
		return found
	}
	ids := make([]inventory.ID, 0, len(w.recorded))
	for _, entry := range w.recorded {
		if !entry.IsHook() {
			ids = append(ids, entry.ID)
		}
	}
	if unmet := engine.FindUnmet(ids, r.compiledProbes(w), w); len(unmet) > 0 {
		found = waitingFor(unmet[0].String())
		found.reason = v1beta2.ReasonWaitingForProbe
	}
	return found
}
