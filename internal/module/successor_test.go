package module

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// record gives a Manifest the status of one whose content was compared with the cluster.
func record(manifest *v1beta2.Manifest) *v1beta2.Manifest {
	manifest.Status.Synced = []v1beta2.Resource{{Name: "sample"}}
	manifest.Status.Conditions = append(manifest.Status.Conditions, metav1.Condition{
		Type: v1beta2.ConditionResources, Status: metav1.ConditionTrue, ObservedGeneration: manifest.Generation,
	})
	return manifest
}

// renamed returns a Snapshot in which the sample module was installed and the spec now names it "next".
func renamed(edits ...func(*Snapshot)) Snapshot {
	w := newWorld(newKyma(module("next")), installedAt("regular", v1), func(w *Snapshot) {
		w.Releases["next"] = newRelease("next", "regular", v1)
		template := newTemplate("next", v1)
		w.Templates[template.Name] = template
		w.Components[ComponentKey{componentOfModule("next"), v1}] = newComponent(v1)
	})
	for _, edit := range edits {
		edit(&w)
	}
	return w
}

// take adds the Manifest of the module that takes the sample module's place.
func take(edits ...func(*v1beta2.Manifest)) func(*Snapshot) {
	return func(w *Snapshot) {
		next := stored(wanted(w.Kyma, &Verdict{
			Module: "next", Channel: "regular", Version: v1, ComponentName: componentOfModule("next"),
			Template: newTemplate("next", v1), Source: newSource(v1),
		}), nil)
		record(reporting(next, v1beta2.StateProcessing, v1beta2.ReasonApplying, "objects are being applied"))
		for _, edit := range edits {
			edit(next)
		}
		w.Manifests = append(w.Manifests, *next)
	}
}

func TestSuccessor_ARenamedModuleIsRemovedOnlyWhenTheNewOneKnowsWhatBothHave(t *testing.T) {
	otherResource := func(w *Snapshot) { w.Templates["next-"+v1].Spec.Data.SetName("other") }
	for _, test := range []struct {
		name string
		w    Snapshot
		held bool
	}{
		{"the new module has no Manifest yet", renamed(), true},
		{"the new module waits for its rollout", renamed(func(w *Snapshot) {
			w.Releases["next"].Annotations = map[string]string{v1beta2.AnnotationRollout: rolloutUID}
		}), true},
		{"its component is being read", renamed(func(w *Snapshot) {
			w.Components[ComponentKey{componentOfModule("next"), v1}] = Component{Pending: true}
		}), true},
		{"its component cannot be read", renamed(func(w *Snapshot) {
			w.Components[ComponentKey{componentOfModule("next"), v1}] = Component{Reason: v1beta2.ReasonRegistryUnauthorized, Message: "no"}
		}), true},
		{"its Manifest has recorded nothing yet", renamed(take(func(m *v1beta2.Manifest) {
			m.Status.Conditions, m.Status.Synced = nil, nil
		})), true},
		{"its Manifest's status is for an earlier generation", renamed(take(func(m *v1beta2.Manifest) { m.Generation++ })), true},
		{"its Manifest is being deleted", renamed(take(func(m *v1beta2.Manifest) { dying(m); record(m) })), true},
		{"its Manifest is becoming unmanaged", renamed(take(func(m *v1beta2.Manifest) {
			m.Annotations[v1beta2.AnnotationIsUnmanaged] = v1beta2.EnabledValue
		})), true},
		{"its Manifest has recorded its objects, ready or not", renamed(take()), false},
		{"another default custom resource, and another component", renamed(otherResource), false},
		{"none at all", renamed(func(w *Snapshot) { w.Templates["next-"+v1].Spec.Data = nil }), false},
		{"another default custom resource of the same component", renamed(otherResource, func(w *Snapshot) {
			w.Releases["next"].Spec.OCMComponentName = component
			w.Components[ComponentKey{component, v1}] = newComponent(v1)
		}), true},
		{"the new module does not exist", renamed(func(w *Snapshot) { delete(w.Releases, "next") }), false},
		{"the new module is not managed", renamed(func(w *Snapshot) { w.Kyma.Spec.Modules[0].Managed = new(bool) }), false},
		{"no new module", renamed(disabled), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			verdicts := Resolve(test.w)
			held := !slices.ContainsFunc(MakePlan(test.w, verdicts).Delete, func(m v1beta2.Manifest) bool {
				return m.Name == test.w.Manifests[0].Name
			})
			if held != test.held {
				t.Errorf("held %t", held)
			}
			told := Rollup(test.w, verdicts, nil).Modules
			at := slices.IndexFunc(told, func(m v1beta2.ModuleStatus) bool { return m.Name == operator })
			want := "the module is being removed"
			if test.held {
				want = "module next replaces this module, which is removed once the objects of next are recorded"
			}
			if told[at].Message != want || told[at].State != v1beta2.StateDeleting {
				t.Errorf("told %s: %q, want %q", told[at].State, told[at].Message, want)
			}
		})
	}
}

func TestSuccessor_WhatIsNotAllowedIsRemovedWhateverTakesItsPlace(t *testing.T) {
	w := renamed(func(w *Snapshot) {
		w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, module(operator))
		w.Templates[operator+"-"+v1].Labels = map[string]string{v1beta2.LabelInternal: v1beta2.EnabledValue}
	})
	if plan := MakePlan(w, Resolve(w)); len(plan.Delete) != 1 {
		t.Errorf("plan %+v", plan)
	}
}

func TestSuccessor_NothingIsDeletedThatAnotherModuleIsAboutToTake(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		if w.Kyma.DeletionTimestamp != nil {
			return
		}
		for _, doomed := range MakePlan(w, Resolve(w)).Delete {
			for _, asked := range w.Kyma.Spec.Modules {
				release := w.Releases[asked.Name]
				if asked.Name == doomed.Labels[v1beta2.LabelModuleName] || release == nil || asked.Managed != nil || componentOf(&doomed) == "" ||
					release.Spec.OCMComponentName != componentOf(&doomed) || asked.Channel != "" || asked.Version != "" {
					continue
				}
				of := func(m v1beta2.Manifest) bool {
					return m.Labels[v1beta2.LabelModuleName] == asked.Name && recorded(&m)
				}
				verdict := func(v Verdict) bool { return v.Module == doomed.Labels[v1beta2.LabelModuleName] && v.Origin.Spec }
				if !slices.ContainsFunc(w.Manifests, of) && !slices.ContainsFunc(Resolve(w), verdict) {
					t.Errorf("%s is deleted before module %s has recorded what it installs", doomed.Name, asked.Name)
				}
			}
		}
	})
}
