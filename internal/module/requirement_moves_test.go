package module

import (
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

func TestWouldBreak_AnUpgradeKeepsWhatAnotherModuleNeeds(t *testing.T) {
	for _, test := range []struct {
		name  string
		needs string            // of b 1.0.0 on a, which goes from 1.0.0 to 2.0.0
		with  []func(*Snapshot) // what comes with a 2.0.0
		want  map[string]expectation
		first []string // what the pass applies
	}{
		{"b works with it", "a >=1", nil, nil, []string{"a 2.0.0"}},
		{"b does not", "a <2", nil, map[string]expectation{
			"a": {Keep, "Warning", "WouldBreak", v1, "version 2.0.0 is not installed: module b needs module a (<2)"},
			"b": {Run, "Ready", "Ready", v1, ""},
		}, nil},
		{"b did not work with the one before either", "a >=3", nil, nil, []string{"a 2.0.0"}},
		{"b needs it in its next version: a goes first", "a <2", []func(*Snapshot){publishes("b", v2, "a >=2")}, map[string]expectation{
			"b": {Waiting, "Ready", "RequirementMissing", v1, "version 2.0.0 needs module a (>=2), which is not ready"},
		}, []string{"a 2.0.0"}},
		{"b works with both in its next version: b goes first", "a <2", []func(*Snapshot){publishes("b", v2, "a >=1")}, map[string]expectation{
			"a": {Waiting, "Ready", "WouldBreak", v1, "version 2.0.0 waits until module b has version 2.0.0, which works with it"},
		}, []string{"b 2.0.0"}},
		{"b needs nothing any more in its next version: b goes first", "a <2", []func(*Snapshot){publishes("b", v2)}, nil, []string{"b 2.0.0"}},
		{"b does not work with it in its next version either", "a <2", []func(*Snapshot){publishes("b", v2, "a <2")}, map[string]expectation{
			"a": {Keep, "Warning", "WouldBreak", v1, "version 2.0.0 is not installed: module b needs module a (<2)"},
		}, []string{"b 2.0.0"}},
		{"the next version of b needs what is not there", "a <2", []func(*Snapshot){publishes("b", v2, "a >=2", "x")}, map[string]expectation{
			"a": {Keep, "Warning", "WouldBreak", v1, "version 2.0.0 is not installed: module b needs module a (<2)"},
			"b": {Waiting, "Ready", "RequirementMissing", v1,
				"version 2.0.0 needs module a (>=2), which has version 1.0.0; module x, which the Kyma does not have"},
		}, nil},
		{"the next version of b is being read", "a <2", []func(*Snapshot){publishes("b", v2, "a >=2"), func(w *Snapshot) {
			delete(w.Components, ComponentKey{componentOfModule("b"), v2})
		}}, map[string]expectation{
			"a": {Keep, "Warning", "WouldBreak", v1, "version 2.0.0 is not installed: module b needs module a (<2)"},
		}, nil},
		{"b waits for its window, and a does not", "a <2", []func(*Snapshot){publishes("b", v2, "a >=2"), hasDowntime("b"), closedWindows}, map[string]expectation{
			"a": {Waiting, "Ready", "WouldBreak", v1,
				"version 2.0.0 waits until other modules may be upgraded with it: module b needs module a (<2)"},
			"b": {Waiting, "Ready", "WaitingForMaintenanceWindow", v1,
				"version 2.0.0 needs downtime and waits for the maintenance window that opens at 2026-03-02T03:00:00Z"},
		}, nil},
		{"both wait for their window", "a <2", []func(*Snapshot){publishes("b", v2, "a >=2"), hasDowntime("a"), hasDowntime("b"), closedWindows}, map[string]expectation{
			"a": {Waiting, "Ready", "WaitingForMaintenanceWindow", v1,
				"version 2.0.0 needs downtime and waits for the maintenance window that opens at 2026-03-02T03:00:00Z"},
			"b": {Waiting, "Ready", "WaitingForMaintenanceWindow", v1,
				"version 2.0.0 needs downtime and waits for the maintenance window that opens at 2026-03-02T03:00:00Z"},
		}, nil},
		{"a waits for its window, and b does not", "a <2", []func(*Snapshot){publishes("b", v2, "a >=2"), hasDowntime("a"), closedWindows}, map[string]expectation{
			"b": {Waiting, "Ready", "RequirementMissing", v1, "version 2.0.0 needs module a (>=2), which has version 1.0.0"},
		}, nil},
		{"b is removed", "a <2", []func(*Snapshot){asksFor("a")}, map[string]expectation{
			"a": {Waiting, "Ready", "WouldBreak", v1, "version 2.0.0 waits until module b is removed"},
		}, nil},
		{"b is left to the user", "a <2", []func(*Snapshot){func(w *Snapshot) { w.Kyma.Spec.Modules[1].Managed = new(bool) }}, nil, []string{"a 2.0.0"}},
		{"b is new", "", []func(*Snapshot){publishes("b", v2, "a <2")}, map[string]expectation{
			"b": {Waiting, "Ready", "RequirementMissing", v1, "version 2.0.0 needs module a (<2), which has version 2.0.0"},
		}, []string{"a 2.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var needs []string
			if test.needs != "" {
				needs = []string{test.needs}
			}
			w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, needs...), asksFor("a", "b")))
			w = edited(w, append([]func(*Snapshot){publishes("a", v2)}, test.with...)...)
			expectTold(t, w, test.want)
			applied, _ := writes(w)
			if len(applied) != len(test.first) || len(applied) > 0 && applied[0] != test.first[0] {
				t.Errorf("applied %v, want %v", applied, test.first)
			}
		})
	}
}

func hasDowntime(name string) func(*Snapshot) {
	return func(w *Snapshot) {
		for _, template := range w.Templates {
			if template.Spec.ModuleName == name && template.Spec.Version == v2 {
				template.Spec.RequiresDowntime = true
			}
		}
	}
}

func closedWindows(w *Snapshot) {
	clock := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	w.Windows = &WindowPolicy{Default: []Window{{Days: wholeWeek, Begin: clock(3), End: clock(4)}}}
}

func TestWouldBreak_TwoModulesThatMoveTogetherArrive(t *testing.T) {
	for _, needs := range []string{"a >=2", "a >=1", "a"} {
		w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a <2"), asksFor("a", "b")))
		w = settle(t, edited(w, publishes("a", v2), publishes("b", v2, needs)))
		expectTold(t, w, map[string]expectation{"a": {Run, "Ready", "Ready", v2, ""}, "b": {Run, "Ready", "Ready", v2, ""}})
	}
}

func TestWouldBreak_WhatIsBeingReplacedCountsUntilTheNextIsReady(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a <2"), asksFor("a", "b")))
	w = onePass(edited(w, publishes("a", v2), publishes("b", v2, "a")))
	waits := expectation{Waiting, "Ready", "WouldBreak", v1, "version 2.0.0 waits until module b is ready in version 2.0.0"}
	expectTold(t, w, map[string]expectation{"a": waits})
	w = edited(w, isBroken("b"))
	expectTold(t, w, map[string]expectation{"a": waits}) // b may go back
	expectWrites(t, edited(w, isReady("b")), []string{"a 2.0.0"}, nil)
}

func TestWouldBreak_TheOrderOfWhatIsNeededTakesPrecedence(t *testing.T) {
	// p needs a 2, d needs p 2, and d 1 does not work with a 2: a goes first, although d 2 would work with a 1.
	w := settle(t, newGraph(publishes("a", v1), publishes("p", v1), publishes("d", v1, "a <2"), asksFor("a", "d", "p")))
	w = edited(w, publishes("a", v2), publishes("p", v2, "a >=2"), publishes("d", v2, "a >=1", "p >=2"))
	expectWrites(t, w, []string{"a 2.0.0"}, nil)
	w = settle(t, w)
	expectTold(t, w, map[string]expectation{"d": {Run, "Ready", "Ready", v2, ""}})
}

func TestWouldBreak_OneThatIsHeldMayLetOthersGo(t *testing.T) {
	// z holds p at 1; d 2 needs that, and a 2, which d 1 does not work with.
	w := settle(t, newGraph(publishes("p", v1), publishes("z", v1, "p <2"), publishes("a", v1), publishes("d", v1, "a <2"), asksFor("a", "d", "p", "z")))
	w = settle(t, edited(w, publishes("p", v2), publishes("a", v2), publishes("d", v2, "a >=2", "p <2")))
	expectTold(t, w, map[string]expectation{
		"p": {Keep, "Warning", "WouldBreak", v1, "version 2.0.0 is not installed: module d needs module p (<2); module z needs module p (<2)"},
		"a": {Run, "Ready", "Ready", v2, ""}, "d": {Run, "Ready", "Ready", v2, ""},
	})
}

func TestRequirementCycle_IsRefusedForEach(t *testing.T) {
	w := newGraph(publishes("a", v1, "b"), publishes("b", v1, "a"), publishes("c", v1, "a"), publishes("d", v1, "d"), asksFor("a", "b", "c", "d"))
	say := func(circle string) expectation {
		return expectation{Refused, "Error", "RequirementCycle", "", "version 1.0.0 cannot be installed: the modules " + circle + " require each other"}
	}
	expectTold(t, w, map[string]expectation{
		"a": say("a -> b -> a"), "b": say("b -> a -> b"), "d": say("d -> d"),
		"c": {Waiting, "Processing", "RequirementMissing", "", "version 1.0.0 needs module a, which is not ready"},
	})
	expectWrites(t, w, nil, nil)
	// What runs stays, and its next version is refused.
	w = settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a"), asksFor("a", "b")))
	w = edited(w, publishes("a", v2, "b"))
	expectTold(t, w, map[string]expectation{
		"a": {Keep, "Error", "RequirementCycle", v1, "version 2.0.0 cannot be installed: the modules a -> b -> a require each other"},
		"b": {Run, "Ready", "Ready", v1, ""},
	})
	expectWrites(t, w, nil, nil)
}

func TestWouldBreak_AWayBackIsNotPreventedAndTold(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1), asksFor("a", "b")))
	before := succeeded(w, "a", 1)
	w = settle(t, edited(w, publishes("a", v2), publishes("b", v2, "a >=2")))
	after := succeeded(w, "a", 2)
	w = edited(w, func(w *Snapshot) {
		manifestOf(w, "a").Status.Revisions = []v1beta2.Revision{before, after}
		w.Kyma.Spec.Modules[0].Avoid = revision.ReferenceOf(after)
	})
	expectWrites(t, w, []string{"a 1.0.0"}, nil)
	v := verdictOf(t, w, "a")
	if v.Back == "" || v.Note != "module b does not work with version 1.0.0" {
		t.Errorf("back %q, note %q", v.Back, v.Note)
	}
	w = edited(onePass(w), isReady("a"))
	if got := tells(t, w, "b"); got.State != "Ready" || got.Message != "it needs module a (>=2), which has version 1.0.0" {
		t.Errorf("b tells %+v", got)
	}
}

// succeeded returns the revision of what a module's Manifest asks for.
func succeeded(w Snapshot, name string, number int64) v1beta2.Revision {
	key := revision.Of(&manifestOf(&w, name).Spec)
	return v1beta2.Revision{
		Number: number, Version: key.Version, Digest: key.Digest, Template: key.Template, At: noon, Before: v1beta2.StateReady,
		Outcome: v1beta2.RevisionSucceeded,
	}
}

// manifestOf returns the first Manifest of a module, nil when there is none.
func manifestOf(w *Snapshot, name string) *v1beta2.Manifest {
	for i := range w.Manifests {
		if w.Manifests[i].Labels[v1beta2.LabelModuleName] == name {
			return &w.Manifests[i]
		}
	}
	return nil
}

func verdictOf(t *testing.T, w Snapshot, name string) Verdict {
	t.Helper()
	for _, v := range Resolve(w) {
		if v.Module == name {
			return v
		}
	}
	t.Fatalf("no verdict for %s", name)
	return Verdict{}
}
