package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestNextTeardown(t *testing.T) {
	name := func(name string) func(*v1beta2.Manifest) { return func(m *v1beta2.Manifest) { m.Name = name } }
	living := func(n string) func(*World) { return withManifest(name(n)) }
	goingAway := func(n string) func(*World) {
		return withManifest(func(m *v1beta2.Manifest) { m.Name = n; dying(m) })
	}
	finalizers := func(names ...string) func(*World) { return func(w *World) { w.Kyma.Finalizers = names } }
	for _, test := range []struct {
		name                     string
		world                    []func(*World)
		step                     Step
		delete, waiting, release []string
	}{
		{"the Kyma is not being deleted", []func(*World){func(w *World) { w.Kyma.DeletionTimestamp = nil }, living("a")},
			StepNone, nil, nil, nil},
		{"nothing of ours holds it", []func(*World){finalizers("foreign"), living("a")}, StepNone, nil, nil, nil},
		{"nothing holds it", []func(*World){finalizers()}, StepNone, nil, nil, nil},
		{"Manifests are there", []func(*World){living("b"), living("a")}, StepDelete, []string{"a", "b"}, nil, nil},
		{"one of them is going already", []func(*World){goingAway("b"), living("a")}, StepDelete, []string{"a"}, []string{"b"}, nil},
		{"all are going", []func(*World){goingAway("b"), goingAway("a")}, StepWait, nil, []string{"a", "b"}, nil},
		{"all are gone", nil, StepRelease, nil, nil, nil},
		{"all are gone and others hold the Kyma", []func(*World){finalizers("x", v1beta2.FinalizerKyma, "y", v1beta2.FinalizerPurge)},
			StepRelease, nil, nil, []string{"x", "y"}},
		{"only upstream's old finalizer holds it", []func(*World){finalizers(v1beta2.FinalizerPurge)}, StepRelease, nil, nil, nil},
		{"mandatory modules go, too", []func(*World){withManifest(func(m *v1beta2.Manifest) {
			m.Labels[v1beta2.LabelMandatoryModule] = "true"
		})}, StepDelete, []string{"kyma-sample-template-operator-2235966007"}, nil, nil},
		{"what says nothing of a module goes, too", []func(*World){withManifest(func(m *v1beta2.Manifest) { m.Name, m.Labels = "a", nil })},
			StepDelete, []string{"a"}, nil, nil},
		{"a stand-alone Manifest for the same runtime stays", []func(*World){withManifest(func(m *v1beta2.Manifest) {
			m.OwnerReferences = nil
			delete(m.Labels, v1beta2.LabelManagedBy)
		})}, StepRelease, nil, nil, nil},
		{"another Kyma's Manifest stays", []func(*World){withManifest(func(m *v1beta2.Manifest) { m.OwnerReferences[0].UID = "other" })},
			StepRelease, nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*World){kymaDeleted}, test.world...)...)
			got := NextTeardown(w)
			var deleted []string
			for i := range got.Delete {
				deleted = append(deleted, got.Delete[i].Name)
			}
			want := []any{test.step, test.delete, test.waiting, test.release}
			if diff := cmp.Diff(want, []any{got.Step, deleted, got.Waiting, got.Finalizers}); diff != "" {
				t.Errorf("step, delete, waiting, finalizers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATeardownEnds(t *testing.T) {
	named := func(name string) func(*World) { return withManifest(func(m *v1beta2.Manifest) { m.Name = name }) }
	w := sampleWorld(kymaDeleted, named("a"), named("b"))
	var steps []Step
	for len(steps) < 10 {
		next := NextTeardown(w)
		steps = append(steps, next.Step)
		switch next.Step {
		case StepDelete:
			w = carryOut(w, Plan{Delete: next.Delete})
		case StepWait:
			w.Manifests = w.Manifests[1:]
		case StepRelease:
			w.Kyma.Finalizers = next.Finalizers
		case StepNone:
			if diff := cmp.Diff([]Step{StepDelete, StepWait, StepWait, StepRelease, StepNone}, steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("it goes on for ever: %v", steps)
}
