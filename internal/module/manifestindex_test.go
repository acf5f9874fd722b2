package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// withManifest adds a copy of the sample module's Manifest, edited.
func withManifest(edit func(*v1beta2.Manifest)) func(*Snapshot) {
	return func(w *Snapshot) {
		manifest := manifestAt(w, "regular", v1)
		edit(manifest)
		w.Manifests = append(w.Manifests, *manifest)
	}
}

func TestManifestIndex_WhichManifestIsAModules(t *testing.T) {
	const name = "kyma-sample-template-operator-2235966007"
	for _, test := range []struct {
		name    string
		edits   []func(*Snapshot)
		want    string // the one that counts
		surplus []string
	}{
		{"none", nil, "", nil},
		{"the one with its name", []func(*Snapshot){withManifest(func(*v1beta2.Manifest) {})}, name, nil},
		{"the one with its name although a user changed the label", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.Labels[v1beta2.LabelModuleName] = "other"
		})}, name, nil},
		{"the one with the label, from the time when the component had another name", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.Name = "former"
		})}, "former", nil},
		{"the one that the status names, without labels", []func(*Snapshot){statusAt("regular", v1), theEntry(func(e *v1beta2.ModuleStatus) {
			e.Manifest = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Name: "former"}}
		}), withManifest(func(m *v1beta2.Manifest) { m.Name, m.Labels = "former", nil })}, "former", nil},
		{"the one with the current name before others", []func(*Snapshot){
			withManifest(func(m *v1beta2.Manifest) { m.Name = "former" }), withManifest(func(m *v1beta2.Manifest) {}),
			withManifest(func(m *v1beta2.Manifest) { m.Name = "another" }),
		}, name, []string{"another", "former"}},
		{"one that is not being deleted before one that is", []func(*Snapshot){
			withManifest(func(m *v1beta2.Manifest) { m.Name = "former" }), withManifest(isDying),
		}, "former", []string{name}},
		{"one that lost its owner reference", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) { m.OwnerReferences = nil })}, name, nil},
		{"not a stand-alone one for the same runtime", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.OwnerReferences = nil
			delete(m.Labels, v1beta2.LabelManagedBy)
		})}, "", nil},
		{"not one of another Kyma", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) { m.OwnerReferences[0].UID = "other" })}, "", nil},
		{"not one that something else controls", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.OwnerReferences[0].Kind = "Job"
		})}, "", nil},
		{"one from the time when the module was mandatory", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.Labels[v1beta2.LabelMandatoryModule] = "true"
		})}, name, nil},
		{"not one without a module's name or label", []func(*Snapshot){withManifest(func(m *v1beta2.Manifest) {
			m.Name = "what"
			delete(m.Labels, v1beta2.LabelModuleName)
		})}, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := only(t, sampleWorld(test.edits...))
			var name string
			if got.Manifest != nil {
				name = got.Manifest.Name
			}
			var surplus []string
			for _, manifest := range got.Surplus {
				surplus = append(surplus, manifest.Name)
			}
			if diff := cmp.Diff([]any{test.want, test.surplus}, []any{name, surplus}); diff != "" {
				t.Errorf("Manifest and surplus (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManifestIndex_AManifestOfSomebodyElseIsNotWrittenOver(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*v1beta2.Manifest)
	}{
		{"a stand-alone one", func(m *v1beta2.Manifest) { m.OwnerReferences, m.Labels = nil, nil }},
		{"one of another Kyma", func(m *v1beta2.Manifest) { m.OwnerReferences[0].UID = "other" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(withManifest(test.edit))
			got := only(t, w)
			want := verdictWords{Refused, "Error", "ManifestConflict",
				`Manifest "kyma-sample-template-operator-2235966007" exists and does not belong to this module of this Kyma`, "", ""}
			if diff := cmp.Diff(want, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if plan := MakePlan(w, []Verdict{got}); !plan.Empty() {
				t.Errorf("plan %+v", plan)
			}
		})
	}
}

func TestManifestIndex_WhatWasRefusedStaysTheReasonWhenTheNameIsTaken(t *testing.T) {
	w := sampleWorld(statusAt("fast", v2), withManifest(func(m *v1beta2.Manifest) { m.OwnerReferences, m.Labels = nil, nil }))
	if diff := cmp.Diff(verdictWords{Refused, "Warning", "Downgrade", saysDowngrade, "fast", v2}, wordsOf(only(t, w))); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

func TestManifestIndex_TwoModulesOfOneNameDoNotFight(t *testing.T) {
	// The names of both are cut before the hash, which leaves them equal.
	const long = "kyma-project.io/module/an-operator-with-a-name-that-goes-on-and-on-and-on-and-on"
	w := newWorld(newKyma(module("aaa"), module("bbb")))
	for _, name := range []string{"aaa", "bbb"} {
		w.Releases[name] = newRelease(name, "regular", v1)
		w.Releases[name].Spec.OCMComponentName = long
		w.Templates[name+"-"+v1] = newTemplate(name, v1)
	}
	w.Components[ComponentKey{long, v1}] = newComponent(v1)
	if names := Names(w); len(names) != 1 {
		t.Fatalf("names %q, want one", names)
	}
	for round := range 3 {
		verdicts := Resolve(w)
		plan := MakePlan(w, verdicts)
		if verdicts[0].Kind != Run || verdicts[1].Kind != Refused || verdicts[1].Reason != "ManifestConflict" {
			t.Fatalf("round %d: %s %s, %s %s", round, verdicts[0].Kind, verdicts[0].Reason, verdicts[1].Kind, verdicts[1].Reason)
		}
		if want := map[bool]int{true: 1}[round == 0]; len(plan.Apply) != want {
			t.Fatalf("round %d applies %d, want %d", round, len(plan.Apply), want)
		}
		w = carryOut(w, plan)
	}
}

func TestManifestIndex_TheLabelDecidesBetweenModulesOfOneName(t *testing.T) {
	known := map[string][]string{"m": {"aaa", "bbb"}}
	for label, want := range map[string]string{"aaa": "aaa", "bbb": "bbb", "ccc": "aaa", "": "aaa"} {
		manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{v1beta2.LabelModuleName: label}}}
		if got := attribute(manifest, known); got != want {
			t.Errorf("label %q: %q, want %q", label, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	w := newWorld(newKyma(module("unknown"), module(operator)))
	if diff := cmp.Diff([]string{"kyma-sample-template-operator-2235966007"}, Names(w)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
