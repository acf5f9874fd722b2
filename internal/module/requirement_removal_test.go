package module

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestStillRequired_WhatIsNeededIsNotRemoved(t *testing.T) {
	kept := func(by string) expectation {
		return expectation{Keep, "Warning", "StillRequired", v1, "the module is not removed: " + by + " it"}
	}
	removed := expectation{Removed, "Deleting", "ModuleDeleting", v1, "the module is being removed"}
	for _, test := range []struct {
		name  string
		edits []func(*Snapshot)
		want  expectation // of a, which b and c need
		goes  []string
	}{
		{"while others stay", []func(*Snapshot){asksFor("b", "c")}, kept("modules b, c need"), nil},
		{"while another one stays", []func(*Snapshot){asksFor("b")}, kept("module b needs"), []string{"c"}},
		{"although they are not ready", []func(*Snapshot){asksFor("b", "c"), isBroken("b"), isBroken("c")}, kept("modules b, c need"), nil},
		{"although the component cannot be read", []func(*Snapshot){asksFor("b", "c"), func(w *Snapshot) { clear(w.Components) }},
			kept("modules b, c need"), nil},
		{"although the release is gone", []func(*Snapshot){asksFor("b", "c"), func(w *Snapshot) { delete(w.Releases, "a") }},
			kept("modules b, c need"), nil},
		{"unless all are left to the user", []func(*Snapshot){asksFor("b", "c"), func(w *Snapshot) {
			w.Kyma.Spec.Modules[0].Managed, w.Kyma.Spec.Modules[1].Managed = new(bool), new(bool)
		}}, removed, []string{"a"}},
		{"unless it is not for this Kyma any more", []func(*Snapshot){asksFor("b", "c"), func(w *Snapshot) {
			w.Templates["a-"+v1].Labels = map[string]string{v1beta2.LabelInternal: "true"}
		}}, removed, []string{"a"}},
		{"unless it is restricted to others", []func(*Snapshot){asksFor("b", "c"), func(w *Snapshot) {
			w.Restricted = []string{"a"}
			w.Releases["a"].Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}
		}}, removed, []string{"a"}},
		{"unless another module takes its place", []func(*Snapshot){publishes("d", v1), asksFor("b", "c", "d"), func(w *Snapshot) {
			w.Templates["d-"+v1].Spec.Data.SetName("a")
		}}, expectation{Removed, "Deleting", "ModuleDeleting", v1,
			"module d replaces this module, which is removed once the objects of d are recorded"}, nil},
		{"while the hub's spec is not merged nothing is removed", []func(*Snapshot){asksFor("b", "c"), func(w *Snapshot) { w.Behind = true }}, removed, nil},
		{"but it can be left to the user", []func(*Snapshot){asksFor("b", "c", "a"), func(w *Snapshot) { w.Kyma.Spec.Modules[2].Managed = new(bool) }},
			expectation{Unmanaged, "Unmanaged", "Unmanaged", v1, "the module is not managed: its objects are left as they are"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), publishes("c", v1, "a"), asksFor("a", "b", "c")))
			w = edited(w, test.edits...)
			expectTold(t, w, map[string]expectation{"a": test.want})
			if _, deleted := writes(w); !slices.Equal(deleted, test.goes) {
				t.Errorf("deleted %v, want %v", deleted, test.goes)
			}
		})
	}
}

func TestStillRequired_WhatIsAboutToBeNeededIsKept(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1), asksFor("a", "b")))
	w = edited(w, publishes("b", v2, "a"), asksFor("b"))
	expectTold(t, w, map[string]expectation{"a": {Keep, "Warning", "StillRequired", v1, "the module is not removed: module b needs it"}})
	expectWrites(t, w, []string{"b 2.0.0"}, nil)
}

func TestStillRequired_WhatNeedsItIsKeptForAnother(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), publishes("c", v1, "b"), asksFor("a", "b", "c")))
	w = edited(w, asksFor("c"))
	expectTold(t, w, map[string]expectation{
		"a": {Keep, "Warning", "StillRequired", v1, "the module is not removed: module b needs it"},
		"b": {Keep, "Warning", "StillRequired", v1, "the module is not removed: module c needs it"},
	})
	w = onePass(w)
	expectWrites(t, w, nil, nil)
	expectWrites(t, edited(w, asksFor()), nil, []string{"c"})
	w = edited(w, func(w *Snapshot) { manifestOf(w, "a").Spec.Manager = nil }) // what is kept is put back
	expectWrites(t, w, []string{"a 1.0.0"}, nil)
}

func TestStillRequired_TheValuesOfTheEntryThatIsGoneStay(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), asksFor("a", "b"), func(w *Snapshot) {
		w.Kyma.Spec.Modules[0].Values = rawJSON(`{"x":1}`)
	}))
	w = edited(w, asksFor("b"))
	if plan := MakePlan(w, Resolve(w)); !plan.Empty() || manifestOf(&w, "a").Spec.KymaValues == nil {
		t.Errorf("plan %+v for values %+v", plan, manifestOf(&w, "a").Spec.KymaValues)
	}
}

func TestDependencies_AreRemovedAfterWhatNeedsThem(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), publishes("c", v1, "b", "a"), asksFor("a", "b", "c")))
	w = edited(w, asksFor())
	removed := func(by string) expectation {
		return expectation{Removed, "Deleting", "ModuleDeleting", v1, "the module is removed after " + by + " it"}
	}
	want := map[string]expectation{"a": removed("modules b, c, which need"), "b": removed("module c, which needs")}
	for _, going := range []string{"c", "b", "a"} {
		expectTold(t, w, want)
		expectWrites(t, w, nil, []string{going})
		w = onePass(w)
		expectWrites(t, w, nil, nil) // while it is going
		w = edited(w, isGone(going))
		delete(want, going)
		delete(want, map[string]string{"c": "b", "b": "a"}[going])
		if going == "c" {
			want["a"] = removed("module b, which needs")
		}
	}
}

func TestDependencies_WhatNeedsEachOtherIsRemovedTogether(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), publishes("c", v1, "b"), asksFor("a", "b", "c")))
	w = edited(w, publishes("a", v1, "b"))
	w = onePass(w) // the author says so afterwards
	expectWrites(t, edited(w, asksFor()), nil, []string{"c"})
	expectWrites(t, edited(w, asksFor(), func(w *Snapshot) {
		w.Manifests = slices.DeleteFunc(w.Manifests, func(m v1beta2.Manifest) bool { return m.Labels[v1beta2.LabelModuleName] == "c" })
	}), nil, []string{"a", "b"})
}

func TestDependencies_NotAllowedModulesGoInOrderToo(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), asksFor("a", "b")))
	hide := func(names ...string) func(*Snapshot) {
		return func(w *Snapshot) {
			for _, name := range names {
				w.Templates[name+"-"+v1].Labels = map[string]string{v1beta2.LabelBeta: "true"}
			}
		}
	}
	both := edited(w, hide("a", "b"))
	expectWrites(t, both, nil, []string{"b"})
	expectTold(t, both, map[string]expectation{"a": {Removed, "Error", "NotAllowed", v1,
		"module template not allowed: beta module; the module is removed after module b, which needs it"}})
	w = settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), asksFor("a", "b")))
	expectWrites(t, edited(w, hide("a")), nil, []string{"a"})
}

func TestTeardown_ModulesGoInTheOrderOfWhatTheyNeed(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), publishes("c", v1, "b"), publishes("d", v1), asksFor("a", "b", "c", "d")))
	w = edited(w, kymaDeleted)
	for _, going := range [][]string{{"c", "d"}, {"b"}, {"a"}} {
		step := NextTeardown(w)
		var names []string
		for i := range step.Delete {
			names = append(names, step.Delete[i].Labels[v1beta2.LabelModuleName])
		}
		slices.Sort(names)
		if diff := cmp.Diff(going, names); diff != "" || step.Step != StepDelete {
			t.Fatalf("step %s, deleted (-want +got):\n%s", step.Step, diff)
		}
		w = carryOut(w, Plan{Delete: step.Delete})
		if step = NextTeardown(w); step.Step != StepWait || step.Message == "" {
			t.Fatalf("while they go: %s, %q", step.Step, step.Message)
		}
		for _, name := range going {
			w = edited(w, isGone(name))
		}
	}
	if step := NextTeardown(w); step.Step != StepRelease {
		t.Errorf("at the end: %s", step.Step)
	}
}

// TestTeardown_AManifestNotesMoreThanOneListMayHave: template, annotation and component name up to 32 requirements each.
func TestTeardown_AManifestNotesMoreThanOneListMayHave(t *testing.T) {
	needs := []string{"a"}
	for i := range requirements.MaxCount {
		needs = append(needs, fmt.Sprintf("d%d.example.com", i))
	}
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1), asksFor("a", "b")))
	manifestOf(&w, "b").Annotations[v1beta2.AnnotationRequires] = requirements.FormatList(needing(needs...))
	if step := NextTeardown(edited(w, kymaDeleted)); len(step.Delete) != 1 {
		t.Errorf("%d Manifests are deleted at once, want only the one that needs the other", len(step.Delete))
	}
}

func TestTeardown_ACircleHasNoOrder(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), asksFor("a", "b")))
	w = onePass(edited(w, publishes("a", v1, "b")))
	if step := NextTeardown(edited(w, kymaDeleted)); len(step.Delete) != 2 {
		t.Errorf("deleted %d", len(step.Delete))
	}
}
