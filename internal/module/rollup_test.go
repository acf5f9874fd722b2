package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func readyOf(status v1beta2.KymaStatus) metav1.Condition {
	return *conditions.Find(status.Conditions, v1beta2.ConditionReady)
}

func TestRollup_TheWholeStatusOfAReadyKyma(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), theManifest(func(m *v1beta2.Manifest) {
		m.Generation, m.Status.ObservedGeneration = 4, 4
		m.Status.ResourceState, m.Status.ResourceMessage = "Warning", "odd"
	}))
	got := Rollup(w, Resolve(w), nil)
	track := func(apiVersion, kind, namespace, name string, generation int64) *v1beta2.TrackingObject {
		return &v1beta2.TrackingObject{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind},
			PartialMeta: v1beta2.PartialMeta{Namespace: namespace, Name: name, Generation: generation}}
	}
	want := v1beta2.KymaStatus{
		ObservedGeneration: 7, State: "Ready", ModulesReady: "1/1", ActiveChannel: "regular",
		Conditions: []metav1.Condition{
			{Type: "Modules", Status: "True", Reason: "Ready", Message: "all modules are in ready state",
				ObservedGeneration: 7, LastTransitionTime: noon},
			{Type: "Ready", Status: "True", Reason: "Ready", Message: "1 of 1 modules ready; " + operator + ": its own resource reports Warning: odd",
				ObservedGeneration: 7, LastTransitionTime: noon},
		},
		LastOperation: v1beta2.LastOperation{Operation: "kyma is ready", LastUpdateTime: noon},
		Modules: []v1beta2.ModuleStatus{{
			Name: operator, FQDN: component, OCMComponentName: component, Channel: "regular", Version: v1, State: "Ready",
			Manifest:      track("operator.kyma-project.io/v1beta2", "Manifest", namespace, "kyma-sample-template-operator-2235966007", 4),
			Template:      track("operator.kyma-project.io/v1beta2", "ModuleTemplate", namespace, "template-operator-1.0.0", 2),
			Resource:      track("operator.kyma-project.io/v1alpha1", "Sample", "kyma-system", "sample", 0),
			ResourceState: "Warning", ResourceMessage: "odd",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestRollup_WhatStaysOfAnEntry(t *testing.T) {
	for _, test := range []struct {
		name                         string
		edits                        []func(*Snapshot)
		channel, version, component  string
		manifest, template, resource bool
	}{
		{name: "refused with nothing installed", edits: []func(*Snapshot){ofChannel("rapid")}, component: component},
		{name: "refused before its version is known", edits: []func(*Snapshot){ofChannel("none")}, component: component},
		{name: "waiting with nothing installed", edits: []func(*Snapshot){notRead(v1)}, component: component},
		{name: "kept as it is", edits: []func(*Snapshot){installedAt("regular", v1), ofChannel("none"), func(w *Snapshot) { w.Releases = nil }},
			channel: "regular", version: v1, component: component, manifest: true, template: true},
		{name: "kept and enforced", edits: []func(*Snapshot){installedAt("regular", v1), ofChannel("none")},
			channel: "regular", version: v1, component: component, manifest: true, template: true, resource: true},
		{name: "waiting to be upgraded", edits: []func(*Snapshot){installedAt("regular", v1), ofChannel("fast"), notRead(v2)},
			channel: "regular", version: v1, component: component, manifest: true, template: true},
		{name: "removed", edits: []func(*Snapshot){installedAt("regular", v1), disabled},
			channel: "regular", version: v1, component: component, manifest: true, template: true},
		{name: "removed, and the status was lost", edits: []func(*Snapshot){installedAt("regular", v1), disabled,
			func(w *Snapshot) { w.Kyma.Status = v1beta2.KymaStatus{} }},
			channel: "regular", version: v1, component: component, manifest: true},
		{name: "unmanaged", edits: []func(*Snapshot){installedAt("regular", v1), unmanaged}, channel: "regular", version: v1, component: component},
		{name: "no longer allowed, and gone", edits: []func(*Snapshot){statusAt("regular", v1), theTemplate(v1, func(m *v1beta2.ModuleTemplate) {
			m.Labels = map[string]string{v1beta2.LabelBeta: "true"}
		})}, component: component},
		{name: "just applied", edits: nil, channel: "regular", version: v1, component: component, manifest: true, template: true, resource: true},
		{name: "without default CR", edits: []func(*Snapshot){theModule(func(m *v1beta2.Module) { m.CustomResourcePolicy = "Ignore" })},
			channel: "regular", version: v1, component: component, manifest: true, template: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(test.edits...)
			entry := Rollup(w, Resolve(w), nil).Modules[0]
			want := []any{test.channel, test.version, test.component, test.component, test.manifest, test.template, test.resource}
			got := []any{entry.Channel, entry.Version, entry.OCMComponentName, entry.FQDN,
				entry.Manifest != nil, entry.Template != nil, entry.Resource != nil}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("channel, version, component, fqdn, manifest, template, resource (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollup_AModuleThatIsGoneLeavesTheStatus(t *testing.T) {
	w := sampleWorld(statusAt("regular", v1), disabled)
	if got := Rollup(w, Resolve(w), nil); len(got.Modules) != 0 || got.State != "Ready" || readyOf(got).Reason != "NoModules" {
		t.Errorf("status %+v", got)
	}
}

func TestRollup_TheGenerationThatWasWrittenIsTold(t *testing.T) {
	w := sampleWorld()
	written := stored(planned(t, w), nil)
	first := Rollup(w, Resolve(w), map[string]Result{operator: {Manifest: written}})
	if first.Modules[0].Manifest.Generation != 1 {
		t.Errorf("manifest %+v", first.Modules[0].Manifest)
	}
	// The Manifest comes back from the cache, is observed and applied. None of that causes a write of the Kyma's status.
	w.Kyma.Status, w.Now = first, one
	for _, manifest := range []*v1beta2.Manifest{
		written, reporting(written.DeepCopy(), "Processing", "Pending", ""), reporting(written.DeepCopy(), "Processing", "Applying", "1 of 9"),
	} {
		w.Manifests = []v1beta2.Manifest{*manifest}
		if diff := cmp.Diff(first, Rollup(w, Resolve(w), nil)); diff != "" {
			t.Errorf("the status moved (-before +after):\n%s", diff)
		}
	}
}

// kymaWith returns a Kyma with one module for each state, named by letters.
func kymaWith(states ...v1beta2.State) (Snapshot, []Verdict) {
	w := newWorld(newKyma())
	var verdicts []Verdict
	for i, state := range states {
		name := string(rune('a' + i))
		verdicts = append(verdicts, Verdict{
			Module: name, Kind: Refused, State: state, Reason: "Reason" + string(state), Message: "message of " + name,
		})
	}
	return w, verdicts
}

func TestRollup_TheWorstModuleIsTheKyma(t *testing.T) {
	const ready, processing, deleting, warning, broken, unmanaged = v1beta2.StateReady, v1beta2.StateProcessing, v1beta2.StateDeleting,
		v1beta2.StateWarning, v1beta2.StateError, v1beta2.StateUnmanaged
	type s = []v1beta2.State
	for _, test := range []struct {
		name            string
		modules         s
		state           v1beta2.State
		reason, message string
		count, channel  string
	}{
		{"no module", nil, ready, "NoModules", "the spec names no module", "0/0", "regular"},
		{"all ready", s{ready, ready}, ready, "Ready", "2 of 2 modules ready", "2/2", "regular"},
		{"unmanaged counts as ready", s{ready, unmanaged}, ready, "Ready", "2 of 2 modules ready", "2/2", "regular"},
		{"one is processing", s{ready, processing}, processing, "ReasonProcessing",
			"1 of 2 modules ready; b: ReasonProcessing: message of b", "1/2", ""},
		{"one is deleting", s{deleting, ready}, processing, "ReasonDeleting",
			"1 of 2 modules ready; a: ReasonDeleting: message of a", "1/2", ""},
		{"a warning beats processing", s{processing, warning}, warning, "ReasonWarning",
			"0 of 2 modules ready; b: ReasonWarning: message of b; a: ReasonProcessing: message of a", "0/2", "regular"},
		{"an error beats a warning", s{warning, ready, broken}, broken, "ReasonError",
			"1 of 3 modules ready; c: ReasonError: message of c; a: ReasonWarning: message of a", "1/3", ""},
		{"only three are described", s{processing, broken, processing, deleting, broken}, broken, "ReasonError",
			"0 of 5 modules ready; b: ReasonError: message of b; e: ReasonError: message of e; " +
				"a: ReasonProcessing: message of a; and 2 more", "0/5", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, verdicts := kymaWith(test.modules...)
			got := Rollup(w, verdicts, nil)
			condition := readyOf(got)
			want := []any{test.state, test.reason, test.message, test.count, test.channel}
			if diff := cmp.Diff(want, []any{got.State, condition.Reason, condition.Message, got.ModulesReady, got.ActiveChannel}); diff != "" {
				t.Errorf("state, reason, message, count, channel (-want +got):\n%s", diff)
			}
			if (condition.Status == metav1.ConditionTrue) != (test.state == ready) {
				t.Errorf("condition Ready is %s", condition.Status)
			}
			modules := *conditions.Find(got.Conditions, v1beta2.ConditionModules)
			says := map[bool]string{true: "all modules are in ready state", false: "not all modules are in ready state"}
			if modules.Message != says[test.state == ready] {
				t.Errorf("condition Modules says %q", modules.Message)
			}
			if broken := conditions.Check(w.Kyma.Generation, got.Conditions); len(broken) > 0 {
				t.Error(strings.Join(broken, "; "))
			}
		})
	}
}

func TestRollup_AKymaThatIsBeingDeleted(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), kymaDeleted, theManifest(isDying), reported("Error", "RuntimeUnreachable", "no answer"))
	got := Rollup(w, Resolve(w), nil)
	want := []any{v1beta2.StateDeleting, "waiting for modules to be deleted", "Deleting",
		"modules left to delete: 1; template-operator: RuntimeUnreachable: no answer", v1beta2.StateError}
	told := []any{got.State, got.Operation, readyOf(got).Reason, readyOf(got).Message, got.Modules[0].State}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	w.Manifests = nil
	got = Rollup(w, Resolve(w), nil)
	if readyOf(got).Message != "all modules are gone" || len(got.Modules) != 0 || conditions.IsTrue(got.Conditions, "Modules") {
		t.Errorf("status %+v", got)
	}
}

func TestTimesMoveOnlyWithWhatTheySpeakOf(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	w.Kyma.Status = Rollup(w, Resolve(w), nil)
	w.Now, w.Kyma.Generation = one, 8
	again := Rollup(w, Resolve(w), nil)
	if again.LastUpdateTime != noon || readyOf(again).LastTransitionTime != noon || readyOf(again).ObservedGeneration != 8 {
		t.Errorf("at rest: %+v", again)
	}
	reported("Error", "ObjectFailed", "bad")(&w)
	w.Kyma.Status = again
	broken := Rollup(w, Resolve(w), nil)
	const waiting = "waiting for all modules to become ready"
	if broken.LastUpdateTime != one || readyOf(broken).LastTransitionTime != one || broken.Operation != waiting {
		t.Errorf("after an error: %+v", broken)
	}
	if readyOf(again).Status != metav1.ConditionTrue {
		t.Error("the status in the World was changed")
	}
}

func TestUpstreamsConditions(t *testing.T) {
	w := sampleWorld()
	w.Kyma.Status.Conditions = []metav1.Condition{
		{Type: "SKRWebhook", Status: "True", Reason: "Ready"}, {Type: "ModuleCatalog", Status: "True", Reason: "Ready"},
	}
	var kept []string
	for _, condition := range Rollup(w, Resolve(w), nil).Conditions {
		kept = append(kept, condition.Type)
	}
	if diff := cmp.Diff([]string{"ModuleCatalog", "Modules", "Ready"}, kept); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if len(w.Kyma.Status.Conditions) != 2 || w.Kyma.Status.Conditions[0].Type != "SKRWebhook" {
		t.Error("the status in the World was changed")
	}
}

func TestRollup_TheActiveChannelStaysWhileAKymaIsNotWell(t *testing.T) {
	w := sampleWorld(ofChannel("rapid"), func(w *Snapshot) { w.Kyma.Status.ActiveChannel, w.Kyma.Spec.Channel = "fast", "regular" })
	if got := Rollup(w, Resolve(w), nil); got.ActiveChannel != "fast" || got.State != "Error" {
		t.Errorf("activeChannel %q in state %s", got.ActiveChannel, got.State)
	}
	none := newWorld(newKyma(), func(w *Snapshot) { w.Kyma.Spec.Channel = "none" })
	if got := Rollup(none, Resolve(none), nil); got.ActiveChannel != "" {
		t.Errorf("activeChannel %q", got.ActiveChannel)
	}
	unset := newWorld(newKyma(), func(w *Snapshot) { w.Kyma.Spec.Channel = "" })
	if got := Rollup(unset, Resolve(unset), nil); got.ActiveChannel != "regular" {
		t.Errorf("activeChannel %q", got.ActiveChannel)
	}
}

func TestRollup_ALongMessageIsCut(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), reported("Error", "ObjectFailed", strings.Repeat("long ", 1000)))
	got := Rollup(w, Resolve(w), nil)
	if n := len([]rune(got.Modules[0].Message)); n > conditions.MessageLimit {
		t.Errorf("message of %d characters", n)
	}
	w.Kyma.Status = got
	if diff := cmp.Diff(got, Rollup(w, Resolve(w), nil), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the status moves without cause (-before +after):\n%s", diff)
	}
}

func TestSummary_TellsWhichReadyModulesHaveAResourceThatSaysOtherwise(t *testing.T) {
	module := func(name string, state, resource v1beta2.State, message string) moduleReasons {
		return moduleReasons{entry: &v1beta2.ModuleStatus{Name: name, State: state, ResourceState: resource, ResourceMessage: message, Message: "m"}, cause: "C"}
	}
	for name, test := range map[string]struct {
		modules []moduleReasons
		want    string
	}{
		"one that reports Error":        {[]moduleReasons{module("a", "Ready", "Error", "no database")}, "1 of 1 modules ready; a: its own resource reports Error: no database"},
		"one that gives no message":     {[]moduleReasons{module("a", "Ready", "Warning", "")}, "1 of 1 modules ready; a: its own resource reports Warning"},
		"one that is still processing":  {[]moduleReasons{module("a", "Ready", "Processing", "")}, "1 of 1 modules ready"},
		"one that counts for the state": {[]moduleReasons{module("a", "Error", "Error", "no database")}, "0 of 1 modules ready; a: C: m"},
		"one of an unmanaged module":    {[]moduleReasons{module("a", "Unmanaged", "Error", "")}, "1 of 1 modules ready"},
		"many": {[]moduleReasons{module("a", "Ready", "Error", ""), module("b", "Ready", "Error", ""), module("c", "Ready", "Error", ""), module("d", "Ready", "Error", "")},
			"4 of 4 modules ready; a: its own resource reports Error; b: its own resource reports Error; c: its own resource reports Error; " +
				"and 1 more resource"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(&v1beta2.Kyma{}, test.modules, "modules", named); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
