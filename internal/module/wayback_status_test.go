package module

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestWayBack_TheStatusSaysWhatRunsAndWhy(t *testing.T) {
	for _, test := range []struct {
		name    string
		world   Snapshot
		state   v1beta2.State
		reason  string // of the Kyma's condition
		avoid   string
		version string
		says    string
	}{
		{"what went back is ready, and the Kyma tells why it is not the version that is offered", wentBack(), "Ready", "RolledBack", referenceAt(v2), v1, `"kyma retry template-operator"`},
		{"what went back and is not ready says both", wentBack(reports("Error", "ObjectFailed")), "Error", "ModuleError", referenceAt(v2), v1, "the Manifest says so; version 2.0.0 failed here"},
		{"what a person avoids is not named as avoided by itself", wentBack(withHistory(began(v1, -time.Hour, "", "Succeeded", "")), avoiding(referenceAt(v2))), "Ready", "RolledBack", "", v1, "version 2.0.0 is avoided, as the spec asks"},
		{"while nothing can be decided, the entry keeps what is avoided", wentBack(ofChannel("rapid"), theEntry(func(e *v1beta2.ModuleStatus) { e.Avoid = referenceAt(v2) })), "Error", "ChannelNotFound", referenceAt(v2), v1, "no version found"},
		{"it is forgotten when the history does not know it", wentBack(withHistory(), ofChannel("rapid"), theEntry(func(e *v1beta2.ModuleStatus) { e.Avoid = referenceAt(v2) })), "Error", "ChannelNotFound", "", v1, "no version found"},
		{"a failed upgrade without a way back is a warning at least", upgrading(vouching("")), "Warning", "RollbackUnavailable", "", v2, "Deployment x: 0 of 1 replicas are available; version 2.0.0 stays"},
		{"an error stays one", upgrading(vouching(""), reports("Error", "ObjectFailed")), "Error", "ModuleError", "", v2, "the Manifest says so; version 2.0.0 stays"},
		{"a person who asks in vain is told, although it is ready", upgrading(without(v1), avoiding(referenceAt(v2)), reports("Ready", "Ready")), "Warning", "RollbackUnavailable", "", v2, "version 2.0.0 stays"},
		{"an upgrade without a way back tells so in time", upgrading(vouching(""), theRevision(2, func(r *v1beta2.Revision) { r.At = noon })), "Processing", "ModuleProcessing", "", v2, "should it fail, it does not go back by itself"},
		{"and before it begins", wentBack(withHistory(began(v1, -time.Hour, "", "Succeeded", "")), vouching(""), awaitsWindow(v2)), "Ready", "WaitingForMaintenanceWindow", "", v1, "should it fail, it does not go back by itself"},
		{"an upgrade with a way back says nothing of it", upgrading(theRevision(2, func(r *v1beta2.Revision) { r.At = noon })), "Processing", "ModuleProcessing", "", v2, "replicas are available"},
		{"definitions that hold the way back are an error of its own", wentBack(reports("Warning", "RollbackUnsafe")), "Error", "RollbackUnsafe", referenceAt(v2), v1, "the Manifest says so; version 2.0.0 failed here"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status := Rollup(test.world, Resolve(test.world), nil)
			entry, ready := status.Modules[0], status.Conditions[len(status.Conditions)-1]
			if entry.State != test.state || ready.Reason != test.reason || entry.Avoid != test.avoid || entry.Version != test.version ||
				!strings.Contains(entry.Message, test.says) || !strings.Contains(ready.Message, test.says) {
				t.Errorf("%s at %s, avoids %q: %s\nReady: %s: %s", entry.State, entry.Version, entry.Avoid, entry.Message, ready.Reason, ready.Message)
			}
		})
	}
}

func TestNeeded_ReadsTheWayBackInTheSameRound(t *testing.T) {
	want := []ComponentKey{{component, v1}, {component, v2}}
	for name, w := range map[string]Snapshot{"an upgrade that failed": upgrading(), "a version that is avoided": upgrading(avoiding(referenceAt(v2)))} {
		w.Components = nil
		if got := Needed(w); !slices.Equal(got, want) {
			t.Errorf("%s: %v is read, want %v", name, got, want)
		}
	}
	if got := Needed(sampleWorld(installedAt("regular", v1), automatic, withHistory(began(v1, -time.Hour, "", "Succeeded", "")))); len(got) != 1 {
		t.Errorf("at rest %v is read, want only what runs", got)
	}
}
