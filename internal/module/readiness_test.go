package module

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// counts says what counts for the readiness of the sample module, and that its Manifest is marked so.
func counts(readiness v1beta2.Readiness) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Kyma.Spec.Readiness = readiness
		if countsResource(readiness) {
			w.Manifests[0].Annotations[v1beta2.AnnotationReadiness] = string(readiness)
		}
	}
}

func resourceSays(state v1beta2.State) func(*Snapshot) {
	return theManifest(func(m *v1beta2.Manifest) { m.Status.ResourceState, m.Status.ResourceMessage = state, "it says so" })
}

// TestWayBack_ByWhatCountsForReadiness is the table of docs/spec/kyma.md: which upgrades go back at their deadline.
func TestWayBack_ByWhatCountsForReadiness(t *testing.T) {
	resources := []v1beta2.State{v1beta2.StateReady, v1beta2.StateProcessing, "", v1beta2.StateWarning, v1beta2.StateError, v1beta2.StateDeleting}
	for _, test := range []struct {
		manifest, reason string
		readiness        v1beta2.Readiness
		back             string // for each state of the resource
	}{
		{"Ready", "Ready", v1beta2.ReadinessWorkloads, "------"},
		{"Ready", "Ready", v1beta2.ReadinessModuleCR, "-bbbb-"},
		{"Ready", "Ready", v1beta2.ReadinessBoth, "-bbbb-"},
		{"Processing", "WaitingForObjects", v1beta2.ReadinessWorkloads, "bbbbbb"},
		{"Processing", "WaitingForObjects", v1beta2.ReadinessModuleCR, "-bbbbb"},
		{"Processing", "WaitingForObjects", v1beta2.ReadinessBoth, "bbbbbb"},
		{"Error", "ObjectFailed", v1beta2.ReadinessWorkloads, "bbbbbb"},
		{"Error", "ObjectFailed", v1beta2.ReadinessModuleCR, "-bbbbb"},
		{"Error", "ObjectFailed", v1beta2.ReadinessBoth, "bbbbbb"},
		{"Error", "ContentInvalid", v1beta2.ReadinessWorkloads, "bbbbbb"},
		{"Error", "ContentInvalid", v1beta2.ReadinessModuleCR, "bbbbbb"},
		{"Error", "ContentInvalid", v1beta2.ReadinessBoth, "bbbbbb"},
		{"Error", "RuntimeUnreachable", v1beta2.ReadinessWorkloads, "------"},
		{"Error", "RuntimeUnreachable", v1beta2.ReadinessModuleCR, "------"},
		{"Error", "RuntimeUnreachable", v1beta2.ReadinessBoth, "------"},
	} {
		for i, resource := range resources {
			t.Run(strings.Join([]string{string(test.readiness), test.reason, "resource " + string(resource)}, ", "), func(t *testing.T) {
				w := upgrading(reports(v1beta2.State(test.manifest), test.reason), counts(test.readiness), resourceSays(resource))
				v := Resolve(w)[0]
				if back, want := v.Back != "", test.back[i] == 'b'; back != want {
					t.Errorf("goes back: %v, want %v: %s", back, want, v.Message)
				}
			})
		}
	}
}

func TestWayBack_SaysWhatTheResourceReports(t *testing.T) {
	v := Resolve(upgrading(reports("Ready", "Ready"), counts(v1beta2.ReadinessBoth), resourceSays(v1beta2.StateError)))[0]
	if !strings.Contains(v.Message, "Error: it says so") {
		t.Errorf("the message does not have what the resource says: %s", v.Message)
	}
}

func TestWayBack_TheTemplateSaysWhatCountsWhereTheKymaDoesNot(t *testing.T) {
	of := theTemplate(v2, func(m *v1beta2.ModuleTemplate) { m.Spec.Readiness = v1beta2.ReadinessBoth })
	broken := []func(*Snapshot){reports("Ready", "Ready"), resourceSays(v1beta2.StateError), of}
	if v := Resolve(upgrading(broken...))[0]; v.Back == "" {
		t.Error("the template's readiness does not count")
	}
	if v := Resolve(upgrading(append(broken, counts(v1beta2.ReadinessWorkloads))...))[0]; v.Back != "" {
		t.Error("the template's readiness counts although the Kyma says something else")
	}
}

func TestMakePlan_TheManifestSaysWhatCounts(t *testing.T) {
	both := theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.Readiness = v1beta2.ReadinessBoth })
	kyma := func(readiness v1beta2.Readiness) func(*Snapshot) {
		return func(w *Snapshot) { w.Kyma.Spec.Readiness = readiness }
	}
	for _, test := range []struct {
		name  string
		world Snapshot
		want  string
	}{
		{"the objects alone need no mark", sampleWorld(kyma(v1beta2.ReadinessWorkloads), both), ""},
		{"the template says so", sampleWorld(both), "Both"},
		{"the Kyma has the last word", sampleWorld(both, kyma(v1beta2.ReadinessModuleCR)), "ModuleCR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := MakePlan(test.world, Resolve(test.world))
			if got := plan.Apply[0].Annotations[v1beta2.AnnotationReadiness]; got != test.want {
				t.Errorf("marked %q, want %q", got, test.want)
			}
		})
	}
}

func TestModuleState_IsNoBetterThanTheResourceThatCounts(t *testing.T) {
	for _, test := range []struct {
		readiness                v1beta2.Readiness
		manifest, resource, want v1beta2.State
	}{
		{v1beta2.ReadinessWorkloads, "Ready", "Error", "Ready"},
		{v1beta2.ReadinessModuleCR, "Ready", "Error", "Error"},
		{v1beta2.ReadinessBoth, "Ready", "Warning", "Warning"},
		{v1beta2.ReadinessBoth, "Ready", "", "Ready"},
		{v1beta2.ReadinessBoth, "Processing", "Error", "Processing"},
	} {
		w := upgrading(reports(test.manifest, "Ready"), counts(test.readiness), resourceSays(test.resource))
		if got := ModuleState(&w.Manifests[0]); got != test.want {
			t.Errorf("%s, Manifest %s, resource %q: %s, want %s", test.readiness, test.manifest, test.resource, got, test.want)
		}
	}
}
