package module

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func had(kind string, status metav1.ConditionStatus, reason string) func(*Snapshot) {
	return func(w *Snapshot) {
		conditions.Set(&w.Kyma.Status.Conditions, kind, status, reason, "as before", 1, metav1.NewTime(noon.Add(-time.Hour)))
	}
}

// lagging marks the hub's spec as changed since it was merged.
func lagging(w *Snapshot) { w.Behind = true }

func synced(kind string) Sync { return Sync{Type: kind, Holds: true, Reason: v1beta2.ReasonSynced} }

func TestRemote_WhatARuntimeMakesOfAKyma(t *testing.T) {
	refusedSpec := Sync{Type: v1beta2.ConditionSpecSync, Reason: v1beta2.ReasonRuntimeSpecRefused, Message: "no"}
	met := func(w *Snapshot) { w.Kyma.Status.LastSeen = &v1beta2.LastSeen{} }
	for _, test := range []struct {
		name   string
		world  []func(*Snapshot)
		side   RemoteState
		state  v1beta2.State
		reason string
	}{
		{"everything is there", []func(*Snapshot){met}, RemoteState{Syncs: []Sync{synced(v1beta2.ConditionCRDsSync)}}, "Ready", "Ready"},
		{"something is on its way", []func(*Snapshot){met}, RemoteState{Syncs: []Sync{{Type: v1beta2.ConditionCRDsSync, Reason: v1beta2.ReasonSyncPending}}},
			"Processing", "SyncPending"},
		{"something failed before and nothing new is known of it",
			[]func(*Snapshot){met, had(v1beta2.ConditionModuleCatalog, metav1.ConditionFalse, v1beta2.ReasonSyncFailed)}, RemoteState{}, "Processing", "SyncFailed"},
		{"something failed before and no longer matters",
			[]func(*Snapshot){met, had(v1beta2.ConditionImagePullSecret, metav1.ConditionFalse, v1beta2.ReasonSyncFailed)},
			RemoteState{Moot: []string{v1beta2.ConditionImagePullSecret}}, "Ready", "Ready"},
		{"the hub's edit was overruled", []func(*Snapshot){met},
			RemoteState{Syncs: []Sync{{Type: v1beta2.ConditionSpecSync, Reason: v1beta2.ReasonOverruled}}}, "Ready", "Ready"},
		{"the runtime's spec is invalid", []func(*Snapshot){met}, RemoteState{Syncs: []Sync{refusedSpec}}, "Warning", "RuntimeSpecRefused"},
		{"the runtime does not answer", []func(*Snapshot){met}, RemoteState{Access: &Access{Reason: "RuntimeUnreachable", Message: "no answer"}},
			"Error", "RuntimeUnreachable"},
		{"the runtime is awaited and was never met", nil, RemoteState{Access: &Access{Reason: "RuntimeConnecting", Passing: true}},
			"Processing", "RuntimeConnecting"},
		{"the runtime is awaited and was in order before", []func(*Snapshot){met}, RemoteState{Access: &Access{Reason: "RuntimeConnecting", Passing: true}},
			"Ready", "Ready"},
		{"the hub's edit cannot be merged yet, since the runtime is awaited", []func(*Snapshot){met, lagging},
			RemoteState{Access: &Access{Reason: "RuntimeConnecting", Passing: true}}, "Processing", "RuntimeConnecting"},
		{"the same, since an edit in the runtime is held back", []func(*Snapshot){met, lagging}, RemoteState{}, "Processing", "SyncPending"},
		{"the same, since the runtime's spec is refused", []func(*Snapshot){met, lagging}, RemoteState{Syncs: []Sync{refusedSpec}},
			"Warning", "RuntimeSpecRefused"},
		{"the same, since the runtime does not answer", []func(*Snapshot){met, lagging},
			RemoteState{Access: &Access{Reason: "RuntimeUnreachable", Message: "no answer"}}, "Error", "RuntimeUnreachable"},
		{"nothing is synchronised any more", []func(*Snapshot){met, labelled(v1beta2.LabelSync, "false"),
			had(v1beta2.ConditionCRDsSync, metav1.ConditionFalse, v1beta2.ReasonSyncFailed)}, RemoteState{}, "Ready", "Ready"},
		{"the Kyma is being deleted and the runtime does not answer", []func(*Snapshot){met, kymaDeleted},
			RemoteState{Access: &Access{Reason: "RuntimeUnreachable"}}, "Deleting", "Deleting"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("regular", "1.0.0")}, test.world...)...)
			status := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), test.side)
			if got := []any{status.State, readyOf(status).Reason}; !cmp.Equal(got, []any{test.state, test.reason}) {
				t.Errorf("%v, want %v %v", got, test.state, test.reason)
			}
			if broken := conditions.Check(w.Kyma.Generation, status.Conditions); len(broken) > 0 {
				t.Errorf("conditions: %v", broken)
			}
			if w.Behind && conditions.IsTrue(status.Conditions, v1beta2.ConditionModules) {
				t.Error("condition Modules speaks of an edit that was not merged")
			}
			w.Kyma.Status = status
			w.Now = metav1.NewTime(noon.Add(time.Hour))
			if diff := cmp.Diff(status, MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), test.side)); diff != "" {
				t.Errorf("it is written again although nothing changed:\n%s", diff)
			}
		})
	}
}

func TestRemote_ARuntimeThatCannotBeUsedIsToldByItsModules(t *testing.T) {
	w := sampleWorld(installedAt("regular", "1.0.0"))
	w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, v1beta2.Module{Name: "free", Managed: new(bool)})
	status := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), RemoteState{Access: &Access{Reason: "RuntimeUnreachable", Message: "no answer"}})
	told := map[string][2]string{}
	for _, entry := range status.Modules {
		told[entry.Name] = [2]string{string(entry.State), entry.Message}
	}
	want := map[string][2]string{operator: {"Error", "no answer"}, "free": {"Unmanaged", ruleUnmanaged.message()}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if status.ModulesReady != "1/2" || conditions.IsTrue(status.Conditions, v1beta2.ConditionModules) {
		t.Errorf("ready %s, conditions %v", status.ModulesReady, status.Conditions)
	}
}

func TestRemote_WhatIsKnownOfARuntimeIsKept(t *testing.T) {
	w := sampleWorld(had(ConditionWebhook, metav1.ConditionTrue, "Ready"))
	seen := &v1beta2.LastSeen{Overruled: []string{"channel"}}
	status := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), RemoteState{ID: "one", Seen: seen})
	if status.RuntimeID != "one" || status.LastSeen != seen || conditions.Find(status.Conditions, ConditionWebhook) == nil {
		t.Errorf("status %+v", status)
	}
	w.Kyma.Status = status
	status = MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), RemoteState{ID: "other", WatcherGone: true})
	if status.RuntimeID != "one" || status.LastSeen == nil || conditions.Find(status.Conditions, ConditionWebhook) != nil {
		t.Errorf("status %+v", status)
	}
}

func TestRemote_WhoIsBoundToARuntime(t *testing.T) {
	for _, test := range []struct {
		name, bound string
		edit        func(*Snapshot)
		side        RemoteState
		want        string
	}{
		{"a runtime is met for the first time", "", nil, RemoteState{ID: "one"}, "one"},
		{"another one is met later", "one", nil, RemoteState{ID: "other"}, "one"},
		{"it turns out to belong to another Kyma before anything was installed there", "one", nil, RemoteState{Foreign: true}, ""},
		{"it turns out to belong to another Kyma, too late", "one", installedAt("regular", "1.0.0"), RemoteState{Foreign: true}, "one"},
		{"another Kyma takes it later", "one", func(w *Snapshot) { w.Kyma.Status.LastSeen = &v1beta2.LastSeen{} }, RemoteState{Foreign: true}, "one"},
		{"another Kyma takes it, and this Kyma is being deleted", "one", func(w *Snapshot) { w.Kyma.DeletionTimestamp = noon.DeepCopy() }, RemoteState{Foreign: true}, "one"},
	} {
		w := sampleWorld()
		if test.edit != nil {
			test.edit(&w)
		}
		w.Kyma.Status.RuntimeID = test.bound
		if got := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), test.side).RuntimeID; got != test.want {
			t.Errorf("%s: bound to %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRemote_NothingIsDecidedBeforeTheRuntimeWasMet(t *testing.T) {
	for _, passing := range []bool{true, false} {
		w := sampleWorld(installedAt("regular", "0.9.0"))
		w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, v1beta2.Module{Name: "wanted"})
		state := map[bool]v1beta2.State{true: "Processing", false: "Error"}[passing]
		verdicts := HoldAll(w, Access{Reason: "RuntimeConnecting", Message: "wait", Passing: passing})
		var got []any
		for _, v := range verdicts {
			got = append(got, []any{v.Module, v.Kind, v.State, v.Version})
		}
		want := []any{[]any{operator, Waiting, state, "0.9.0"}, []any{"wanted", Waiting, state, ""}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if plan := MakePlan(w, verdicts); !plan.Empty() {
			t.Errorf("it writes: %+v", plan)
		}
	}
}

// A module that its Kyma no longer names is gone when nothing of it can be installed: no Manifest was created, and no runtime was ever met
// whose user could have requested it.
func TestRemote_AModuleOfAKymaWithoutAClusterGoes(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*Snapshot)
		gone bool
	}{
		"no cluster was ever met":           {func(*Snapshot) {}, true},
		"a cluster was met":                 {func(w *Snapshot) { w.Kyma.Status.RuntimeID = "one" }, false},
		"a user may have requested it":      {func(w *Snapshot) { w.Kyma.Status.LastSeen = &v1beta2.LastSeen{} }, false},
		"upstream connected to the runtime": {had(v1beta2.ConditionCRDsSync, metav1.ConditionTrue, v1beta2.ReasonReady), false},
		"a Manifest exists":                 {func(w *Snapshot) { w.Manifests = append(w.Manifests, *manifestAt(w, "regular", v1)) }, false},
		"the Kyma names it":                 {func(w *Snapshot) { w.Kyma.Spec.Modules = []v1beta2.Module{module(operator)} }, false},
		"its modules would be in the hub":   {func(w *Snapshot) { no := false; w.Kyma.Spec.Remote, w.Kyma.Status.RuntimeID = &no, "one" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld()
			w.Kyma.Spec.Modules = nil
			w.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: operator, State: v1beta2.StateError, Channel: "regular"}}
			test.edit(&w)
			access := Access{Reason: v1beta2.ReasonAccessSecretNotFound, Message: "no Secret"}
			verdicts := HoldAll(w, access)
			if plan := MakePlan(w, verdicts); !plan.Empty() {
				t.Errorf("it writes: %+v", plan)
			}
			status := MergeRemoteStatus(w, Rollup(w, verdicts, nil), RemoteState{Access: &access})
			if gone := len(status.Modules) == 0; gone != test.gone {
				t.Errorf("modules %+v, gone: want %t", status.Modules, test.gone)
			}
		})
	}
}

func TestMandatoryModulesGoIntoNobodyElsesCluster(t *testing.T) {
	met := &v1beta2.LastSeen{}
	for _, test := range []struct {
		name, reason string
		seen         *v1beta2.LastSeen
		goes         bool
	}{
		{"it belongs to another Kyma", v1beta2.ReasonOwnershipConflict, nil, false},
		{"it is the hub", v1beta2.ReasonKubeconfigRefused, nil, false},
		{"it is the hub, where Kymas of this namespace may not install", v1beta2.ReasonLocalNamespaceRefused, met, false},
		{"it may belong to another Kyma", v1beta2.ReasonRuntimeConnecting, nil, false},
		{"it belongs to this Kyma, and is being reconnected", v1beta2.ReasonRuntimeConnecting, met, true},
		{"it does not answer", v1beta2.ReasonRuntimeUnreachable, nil, true},
	} {
		w := sampleWorld(decreed("policy", v1))
		w.Kyma.Status.LastSeen = test.seen
		if plan := MakePlan(w, HoldAll(w, Access{Reason: test.reason, Message: "no"})); plan.Empty() == test.goes {
			t.Errorf("%s: %+v", test.name, plan)
		}
	}
}

func TestRemote_TheRuntimeSeesItsOwnSideOfAStatus(t *testing.T) {
	w := sampleWorld(installedAt("regular", "1.0.0"))
	status := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), RemoteState{ID: "one", Seen: &v1beta2.LastSeen{}})
	before := *status.DeepCopy()
	told := RuntimeStatus(&status, 7)
	if told.RuntimeID != "" || told.LastSeen != nil || told.ObservedGeneration != 7 || told.Conditions[0].ObservedGeneration != 7 ||
		told.Modules[0].Manifest != nil || told.Modules[0].Template.Namespace != v1beta2.RuntimeNamespace {
		t.Errorf("told %+v", told)
	}
	if diff := cmp.Diff(before, status); diff != "" {
		t.Errorf("the hub's own changed: %s", diff)
	}
	last := DeletingStatus(&told, 8, noon)
	if !conditions.IsTrueAt(last.Conditions, v1beta2.ConditionReconciling, 8) {
		t.Errorf("kstatus calls it current: %+v", last.Conditions)
	}
	if last.State != v1beta2.StateDeleting || last.Operation != v1beta2.OperationSetDeleting || last.ObservedGeneration != 8 {
		t.Errorf("parting %+v", last)
	}
}

func TestFold_AnOutageMakesNoReinstallADowngrade(t *testing.T) {
	w := sampleWorld(installedAt("regular", v2), disabled, theManifest(func(m *v1beta2.Manifest) { m.DeletionTimestamp = noon.DeepCopy() }))
	going := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), RemoteState{})
	if state := going.Modules[0].State; state != v1beta2.StateDeleting {
		t.Fatalf("the module is %s", state)
	}
	w.Kyma.Status = going
	away := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), RemoteState{Access: &Access{Reason: "RuntimeUnreachable", Message: "no answer"}})
	if away.State != v1beta2.StateError || away.Modules[0].Message != "no answer" {
		t.Errorf("the outage is not told: %+v", away)
	}
	again := sampleWorld() // it is gone, and is requested in a lower version than before
	again.Kyma.Status = away
	for _, v := range Resolve(again) {
		if v.Kind != Run || v.Version != v1 {
			t.Errorf("%s of %q: %s %s", v.Kind, v.Version, v.Reason, v.Message)
		}
	}
}

func TestMakePlan_TakesNothingAwayForAnEditThatWasNotMerged(t *testing.T) {
	for name, edit := range map[string]func(*Snapshot){"removed": disabled, "let go of": unmanaged} {
		w := sampleWorld(installedAt("regular", v1), edit)
		if plan := MakePlan(w, Resolve(w)); plan.Empty() {
			t.Errorf("%s: nothing is done", name)
		}
		w.Behind = true
		if plan := MakePlan(w, Resolve(w)); !plan.Empty() {
			t.Errorf("%s: %d deleted, %d adjusted", name, len(plan.Delete), len(plan.Adjust))
		}
	}
}

func TestRemote_Behind(t *testing.T) {
	spec := &v1beta2.KymaSpec{Modules: []v1beta2.Module{{Name: "b"}, {Name: "a", CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete}}}
	same := SeenOf(&v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "a"}, {Name: "b"}}})
	other := SeenOf(&v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "a"}}})
	for name, test := range map[string]struct {
		last *v1beta2.LastSeen
		want bool
	}{
		"nothing was ever merged":    {nil, true},
		"one side was never read":    {&v1beta2.LastSeen{Hub: &same}, true},
		"the hub's spec is the same": {&v1beta2.LastSeen{Hub: &same, Runtime: &other}, false},
		"the hub's spec is new":      {&v1beta2.LastSeen{Hub: &other, Runtime: &same}, true},
	} {
		if got := Behind(spec, test.last); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !Asks(spec, same) || Asks(spec, other) {
		t.Error("what a spec asks for is compared wrongly")
	}
}
