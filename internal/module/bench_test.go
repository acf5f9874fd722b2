package module

import (
	"fmt"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// BenchmarkAtRest is a whole pass over a Kyma of five ready modules in which there is nothing to do.
func BenchmarkAtRest(b *testing.B) {
	w := newWorld(newKyma())
	for i := range 5 {
		name := fmt.Sprintf("module-%c", 'a'+i)
		w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, module(name))
		w.Releases[name] = newRelease(name, "regular", v1)
		w.Templates[name+"-"+v1] = newTemplate(name, v1)
		w.Components[ComponentKey{componentOfModule(name), v1}] = newComponent(v1)
	}
	w = carryOut(w, MakePlan(w, Resolve(w)))
	for i := range w.Manifests {
		makeReady(&w.Manifests[i])
	}
	w.Kyma.Status = Rollup(w, Resolve(w), nil)
	if w.Kyma.Status.State != v1beta2.StateReady {
		b.Fatalf("not at rest: %+v", w.Kyma.Status)
	}
	b.ReportAllocs()
	for b.Loop() {
		verdicts := Resolve(w)
		if !MakePlan(w, verdicts).Empty() {
			b.Fatal("not at rest")
		}
		Rollup(w, verdicts, nil)
	}
}
