package waitfor

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestReasons(t *testing.T) {
	kyma := func(message string) *v1beta2.Kyma {
		return &v1beta2.Kyma{Status: v1beta2.KymaStatus{Conditions: []metav1.Condition{{Type: v1beta2.ConditionReady, Message: message}}}}
	}
	for name, c := range map[string]struct {
		condition, message, want string
	}{
		"the condition names it":                              {"1 of 2 modules ready; notes: CRDChangeRefused: no", "no", "CRDChangeRefused"},
		"another module of a longer name is not it":           {"1 of 2 modules ready; notes-two: CRDChangeRefused: no", "boom", ""},
		"the second of the condition":                         {"x; a: ModuleError: b; notes: Downgrade: lower", "lower", "Downgrade"},
		"with many bad modules the sentence gives the reason": {"x; and 3 more", `no ModuleReleaseMeta found for module "notes" in namespace "x"`, "ReleaseNotFound"},
		"a sentence with a user's words at the end":           {"", `component a.b/c:1.0.0 cannot be installed: it has nothing`, "ComponentInvalid"},
		"an unknown message has no reason":                    {"", "something else", ""},
		"words of a message are not mistaken for a reason":    {"x; notes: this is no reason: y", "y", ""},
	} {
		t.Run(name, func(t *testing.T) {
			entry := &v1beta2.ModuleStatus{Name: "notes", State: v1beta2.StateError, Message: c.message}
			if got, _ := why(seen{kyma: kyma(c.condition)}, entry); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestJudgeModule_SuspendedManifest(t *testing.T) {
	suspended := &v1beta2.Manifest{}
	suspended.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"}
	for name, c := range map[string]struct {
		entry v1beta2.ModuleStatus
		state v1beta2.State
		end   ending
	}{
		"what is missing does not appear": {v1beta2.ModuleStatus{Name: "notes", State: "Processing", Version: "2.0.0"}, "Error", endNow},
		"the requested version runs":      {v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "2.0.0"}, "Ready", endNow},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := &v1beta2.Kyma{Status: v1beta2.KymaStatus{ObservedGeneration: 3, Modules: []v1beta2.ModuleStatus{c.entry}}}
			s := seen{looked: true, kyma: kyma, manifests: map[string]*v1beta2.Manifest{"notes": suspended}}
			got := judgeModule(Options{Generation: 3}, Expectation{Module: "notes", Version: "2.0.0"}, s)
			if got.line.State != c.state || got.end != c.end {
				t.Errorf("got %s (%d), want %s (%d): %s", got.line.State, got.end, c.state, c.end, got.line.Text)
			}
		})
	}
}

func TestJudgeModule_WhatWaitsForPeople(t *testing.T) {
	hub, runtime := v1beta2.ConsentHub, v1beta2.ConsentRuntime
	pending := func(state v1beta2.State, from v1beta2.ConsentSide) v1beta2.ModuleStatus {
		return v1beta2.ModuleStatus{Name: "notes", State: state, Version: "1.0.0", Message: "version 2.0.0 waits for consent",
			Pending: &v1beta2.PendingVersion{Version: "2.0.0", From: []v1beta2.ConsentSide{from}}}
	}
	agreed := func(state v1beta2.State) v1beta2.ModuleStatus {
		entry := pending(state, hub)
		entry.Pending.From, entry.Maintenance, entry.Message = nil, state == "Ready", "version 2.0.0 waits for a maintenance window"
		return entry
	}
	needs := func(name string, state v1beta2.State) v1beta2.ModuleStatus {
		return v1beta2.ModuleStatus{Name: name, State: state, Version: "1.0.0", Message: "version 2.0.0 needs module istio, which the Kyma does not have"}
	}
	other := func(state v1beta2.State) v1beta2.ModuleStatus {
		return v1beta2.ModuleStatus{Name: "istio", State: state, Version: "1.20.0"}
	}
	for name, c := range map[string]struct {
		modules []v1beta2.ModuleStatus
		version string
		state   v1beta2.State
		end     ending
		text    string
	}{
		"an upgrade that waits for this user's consent ends the wait": {[]v1beta2.ModuleStatus{pending("Ready", hub)}, "2.0.0", "Warning", endNow,
			"version 2.0.0 waits for consent; agree with kyma approve notes"},
		"so does a channel that offers one": {[]v1beta2.ModuleStatus{pending("Ready", hub)}, "", "Warning", endNow, "kyma approve notes"},
		"one that waits for another user's says whose": {[]v1beta2.ModuleStatus{pending("Ready", runtime)}, "2.0.0", "Warning", endNow,
			"the user of the runtime must agree"},
		"a first installation ends it, too":             {[]v1beta2.ModuleStatus{pending("Processing", hub)}, "2.0.0", "Warning", endNow, "kyma approve notes"},
		"another version that runs is what was asked":   {[]v1beta2.ModuleStatus{pending("Ready", hub)}, "1.0.0", "Ready", endNow, "version 1.0.0"},
		"a requirement that is missing ends it later":   {[]v1beta2.ModuleStatus{needs("notes", "Processing"), other("Ready")}, "", "Warning", endPatient, "RequirementMissing: version 2.0.0 needs module istio"},
		"also where another version runs":               {[]v1beta2.ModuleStatus{needs("notes", "Ready")}, "2.0.0", "Warning", endPatient, "RequirementMissing: version 2.0.0 needs module istio"},
		"what is under way may bring it":                {[]v1beta2.ModuleStatus{needs("notes", "Processing"), other("Processing")}, "", "Processing", endOpen, "needs module istio"},
		"two that wait for the same do not for another": {[]v1beta2.ModuleStatus{needs("notes", "Processing"), needs("beacon", "Processing")}, "", "Warning", endPatient, "needs module istio"},
		"what waits for consent brings nothing": {[]v1beta2.ModuleStatus{needs("beacon", "Processing"), pending("Processing", hub)}, "",
			"Warning", endNow, "kyma approve notes"},
		"one that has its consent, and waits for a window": {[]v1beta2.ModuleStatus{agreed("Ready")}, "2.0.0", "Warning", endNow,
			"maintenance window"},
		"and one that is being installed": {[]v1beta2.ModuleStatus{agreed("Processing")}, "2.0.0", "Processing", endOpen, "maintenance window"},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := &v1beta2.Kyma{Status: v1beta2.KymaStatus{ObservedGeneration: 3, Modules: c.modules}}
			got := judgeModule(Options{Generation: 3}, Expectation{Module: "notes", Version: c.version}, seen{looked: true, kyma: kyma})
			if got.line.State != c.state || got.end != c.end || !strings.Contains(got.line.Text, c.text) ||
				strings.Contains(got.line.Text, "must agree") != strings.Contains(c.text, "must agree") {
				t.Errorf("got %s (%d), want %s (%d): %s", got.line.State, got.end, c.state, c.end, got.line.Text)
			}
		})
	}
}

func TestJudgeModule(t *testing.T) {
	overruled := &v1beta2.LastSeen{Overruled: []string{"channel", "module notes"}}
	entry := func(state v1beta2.State) v1beta2.KymaStatus {
		return v1beta2.KymaStatus{ObservedGeneration: 3, Modules: []v1beta2.ModuleStatus{{Name: "notes", State: state, Version: "1.0.0"}}}
	}
	waiting := entry(v1beta2.StateReady)
	waiting.Modules[0].Maintenance = true
	unmerged := func(reason string) v1beta2.KymaStatus {
		status := entry(v1beta2.StateReady)
		status.ObservedGeneration = 2
		status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionSpecSync, Status: metav1.ConditionFalse, Reason: reason}}
		return status
	}
	rolledOut := entry(v1beta2.StateReady)
	rolledOut.Modules[0].Offered = "2.0.0"
	for name, c := range map[string]struct {
		status v1beta2.KymaStatus
		want   Expectation
		state  v1beta2.State
		end    ending
	}{
		"a request that the runtime's user overruled fails":   {v1beta2.KymaStatus{ObservedGeneration: 3, LastSeen: overruled}, Expectation{}, "Error", endNow},
		"specs that cannot be merged are told after a while":  {unmerged(v1beta2.ReasonValuesInvalid), Expectation{}, "Warning", endPatient},
		"so is a runtime's spec that is refused":              {unmerged(v1beta2.ReasonRuntimeSpecRefused), Expectation{}, "Warning", endPatient},
		"an edit of another entry that was overruled is not":  {unmerged(v1beta2.ReasonOverruled), Expectation{}, "Processing", endOpen},
		"an upgrade that waits for a window ends the wait":    {waiting, Expectation{Version: "2.0.0"}, "Warning", endNow},
		"an upgrade that waits for its rollout ends the wait": {rolledOut, Expectation{Version: "2.0.0"}, "Warning", endNow},
		"unmanaged is as good as ready":                       {entry("Unmanaged"), Expectation{}, "Unmanaged", endNow},
		"unmanaged is not managed":                            {entry("Unmanaged"), Expectation{Managed: true}, "Processing", endOpen},
		"ready is not unmanaged":                              {entry("Ready"), Expectation{Unmanaged: true}, "Processing", endOpen},
		"ready is not gone":                                   {entry("Ready"), Expectation{Gone: true}, "Deleting", endOpen},
		"an error blocks the removal":                         {entry("Error"), Expectation{Gone: true}, "Error", endPatient},
		"a module without an entry yet is waited for":         {v1beta2.KymaStatus{ObservedGeneration: 3}, Expectation{}, "Processing", endOpen},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Module = "notes"
			got := judgeModule(Options{Generation: 3}, c.want, seen{looked: true, kyma: &v1beta2.Kyma{Status: c.status}})
			if got.line.State != c.state || got.end != c.end {
				t.Errorf("got %s (%d), want %s (%d): %s", got.line.State, got.end, c.state, c.end, got.line.Text)
			}
		})
	}
}
