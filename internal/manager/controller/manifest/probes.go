package manifest

import (
	"cmp"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
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

// healthy checks what is installed, and then the probes: as long as one of them fails, the Manifest is not ready.
func (r *Reconciler) healthy(w *scope) passResult {
	found := w.healthy()
	if found.state != v1beta2.StateReady {
		return found
	}
	for i := range w.manifest.Spec.Probes {
		if waiting := r.probe(w, &w.manifest.Spec.Probes[i], nil); waiting != "" {
			found = waitingFor(waiting)
			found.reason = v1beta2.ReasonWaitingForProbe
			return found
		}
	}
	return found
}

// probe checks one probe on all its objects (those that of accepts, unless it is nil); it returns an empty string when all pass. It waits
// for an object that was not observed yet, unless everything was Ready before: the manager was restarted then.
func (r *Reconciler) probe(w *scope, asked *v1beta2.Probe, of func(inventory.ID) bool) string {
	probe, err := r.probes.of(asked.Expression)
	if err != nil {
		return "" // compile told that
	}
	for _, entry := range w.recorded {
		if entry.GroupKind() != (schema.GroupKind{Group: asked.Group, Kind: asked.Kind}) || of != nil && !of(entry.ID) {
			continue
		}
		object, seen := w.runtime.Object(entry.ID)
		if !seen {
			if w.wasReady() {
				continue
			}
			return fmt.Sprintf("%s: probe %s waits to see it", entry, asked.Name)
		}
		if ok, why := probe.Check(object); !ok {
			return fmt.Sprintf("%s: probe %s: %s", entry, asked.Name, cmp.Or(asked.Message, why))
		}
	}
	return ""
}
