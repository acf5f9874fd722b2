package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestNextTeardown(t *testing.T) {
	name := func(name string) func(*v1beta2.Manifest) { return func(m *v1beta2.Manifest) { m.Name = name } }
	living := func(n string) func(*Snapshot) { return withManifest(name(n)) }
	goingAway := func(n string) func(*Snapshot) {
		return withManifest(func(m *v1beta2.Manifest) { m.Name = n; dying(m) })
	}
	finalizers := func(names ...string) func(*Snapshot) { return func(w *Snapshot) { w.Kyma.Finalizers = names } }
	for _, test := range []struct {
		name                     string
		world                    []func(*Snapshot)
		step                     Step
		delete, waiting, release []string
	}{
		{"the Kyma is not being deleted", []func(*Snapshot){func(w *Snapshot) { w.Kyma.DeletionTimestamp = nil }, living("a")},
			StepNone, nil, nil, nil},
		{"no finalizer of ours holds it", []func(*Snapshot){finalizers("foreign"), living("a")}, StepNone, nil, nil, nil},
		{"nothing holds it", []func(*Snapshot){finalizers()}, StepNone, nil, nil, nil},
		{"Manifests exist", []func(*Snapshot){living("b"), living("a")}, StepDelete, []string{"a", "b"}, nil, nil},
		{"one of them is already being deleted", []func(*Snapshot){goingAway("b"), living("a")}, StepDelete, []string{"a"}, []string{"b"}, nil},
		{"all are being deleted", []func(*Snapshot){goingAway("b"), goingAway("a")}, StepWait, nil, []string{"a", "b"}, nil},
		{"all are gone", nil, StepRelease, nil, nil, nil},
		{"all are gone and others hold the Kyma", []func(*Snapshot){finalizers("x", v1beta2.FinalizerKyma, "y", v1beta2.FinalizerPurge)},
			StepRelease, nil, nil, []string{"x", "y"}},
		{"only upstream's old finalizer holds it", []func(*Snapshot){finalizers(v1beta2.FinalizerPurge)}, StepRelease, nil, nil, nil},
		{"mandatory modules are deleted, too", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.Labels[v1beta2.LabelMandatoryModule] = "true"
		})}, StepDelete, []string{"kyma-sample-template-operator-2235966007"}, nil, nil},
		{"a Manifest without labels is deleted, too", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) { m.Name, m.Labels = "a", nil })},
			StepDelete, []string{"a"}, nil, nil},
		{"a stand-alone Manifest for the same runtime stays", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.OwnerReferences = nil
			delete(m.Labels, v1beta2.LabelManagedBy)
		})}, StepRelease, nil, nil, nil},
		{"another Kyma's Manifest stays", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) { m.OwnerReferences[0].UID = "other" })},
			StepRelease, nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){kymaDeleted}, test.world...)...)
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

func TestTeardown_ATeardownEnds(t *testing.T) {
	named := func(name string) func(*Snapshot) { return withManifest(func(m *v1beta2.Manifest) { m.Name = name }) }
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
