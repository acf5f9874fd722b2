package health_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

func TestModuleState(t *testing.T) {
	const deleted = "metadata: {generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z'}\n"
	for _, test := range []struct {
		name, body, state, message string
	}{
		{"a resource without status reports nothing", "metadata: {name: a}", "", ""},
		{"a resource without state reports nothing, whatever its conditions",
			"status: {conditions: [{type: Ready, status: 'False', message: waits}]}", "", ""},
		{"a state that is not a string is none", "status: {state: 1}", "", ""},
		{"a state that is too long is none", "status: {state: " + strings.Repeat("x", 64) + "}", "", ""},
		{"Ready comes with the text of the condition Ready",
			"status: {state: Ready, conditions: [{type: Other, status: 'False', message: off}, {type: Ready, status: 'True', message: all good}]}",
			"Ready", "all good"},
		{"Ready is not explained by another condition", "status: {state: Ready, conditions: [{type: Other, status: 'False', message: off}]}",
			"Ready", ""},
		{"Processing comes with the condition that is not met yet", `
status: {state: Processing, conditions: [
  {type: Configured, status: "True", message: configured}, {type: Running, status: Unknown, message: pulls images}]}`,
			"Processing", "pulls images"},
		{"Error comes with the condition Ready when it is not true", `
status: {state: Error, conditions: [{type: A, status: "False", message: a part}, {type: Ready, status: "False", message: the whole}]}`,
			"Error", "the whole"},
		{"Error comes with a false condition before an unknown one", `
status: {state: Error, conditions: [{type: A, status: Unknown, message: unclear}, {type: B, status: "False", message: broken}]}`,
			"Error", "broken"},
		{"Error comes with a reason when there is no message",
			"status: {state: Error, conditions: [{type: A, status: 'False', reason: NoSecret}]}",
			"Error", "NoSecret"},
		{"conditions without reason and message are skipped", `
status: {state: Error, conditions: [{type: Ready, status: "False"}, {type: A, status: "False", message: broken}]}`, "Error", "broken"},
		{"Warning comes with the condition Ready even when it is true", `
status: {state: Warning, conditions: [{type: A, status: "True", message: fine}, {type: Ready, status: "True", message: ready but old}]}`,
			"Warning", "ready but old"},
		{"a description stands in for conditions", "status: {state: Warning, description: two APIs are misconfigured}",
			"Warning", "two APIs are misconfigured"},
		{"a description explains Ready too", "status: {state: Ready, description: up to date}", "Ready", "up to date"},
		{"Deleting comes with the reason for the wait", deleted +
			"status: {state: Deleting, conditions: [{type: Deleted, status: 'False', message: functions exist}]}",
			"Deleting", "functions exist"},
		{"a state of another convention is passed on", "status: {state: Dancing}", "Dancing", ""},
		{"Ready of an older generation is Processing", "metadata: {generation: 2}\nstatus: {state: Ready, observedGeneration: 1}",
			"Processing", "generation 2 was not observed yet, Ready refers to generation 1"},
		{"Warning of an older generation is Processing", "metadata: {generation: 2}\nstatus: {state: Warning, observedGeneration: 1}",
			"Processing", "generation 2 was not observed yet, Warning refers to generation 1"},
		{"Error of an older generation stays, because trouble is not hidden",
			"metadata: {generation: 2}\nstatus: {state: Error, observedGeneration: 1, description: broken}", "Error", "broken"},
		{"Ready of the current generation is Ready", "metadata: {generation: 2}\nstatus: {state: Ready, observedGeneration: 2}", "Ready", ""},
		{"Ready is Deleting when the resource is being deleted", deleted + "status: {state: Ready}", "Deleting", "the resource is being deleted"},
		{"Warning stays when the resource is being deleted, because it explains what blocks", deleted +
			"status: {state: Warning, description: bindings exist}",
			"Warning", "bindings exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			state, message := health.ModuleState(object(t, "apiVersion: operator.kyma-project.io/v1alpha1\nkind: Sample\n"+test.body))
			if state != test.state || message != test.message {
				t.Errorf("got %q, %q; want %q, %q", state, message, test.state, test.message)
			}
		})
	}
	if state, message := health.ModuleState(nil); state != "" || message != "" {
		t.Errorf("got %q, %q for no object", state, message)
	}
}

// FuzzObject: for any object there is a verdict, it is one of five, and its message is bounded.
func FuzzObject(f *testing.F) {
	for kind, apiVersion := range map[string]string{
		"Pod": "v1", "Namespace": "v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1",
		"APIService": "apiregistration.k8s.io/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1", "Sample": "operator.kyma-project.io/v1",
	} {
		f.Add(apiVersion, kind, `{"phase":"Running","state":"Ready","observedGeneration":1,"containerStatuses":[{"name":"a","state":{}}],
			"conditions":[{"type":"Ready","status":"False","reason":"A","message":"b"}]}`)
	}
	f.Add("v1", "Pod", `{"phase":"Running","containerStatuses":[1]}`)
	f.Add("a/b", "C", `[]`)
	f.Fuzz(func(t *testing.T, apiVersion, kind, status string) {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind,
			"metadata": map[string]any{"generation": int64(1)}}}
		var value any
		if json.Unmarshal([]byte(status), &value) == nil {
			u.Object["status"] = value
		}
		result := health.Of(u)
		switch result.Status {
		case health.Ready, health.InProgress, health.Failed, health.Terminating, health.Unknown:
		default:
			t.Fatalf("status %q", result.Status)
		}
		if result.Status != health.Ready && result.Message == "" {
			t.Fatalf("%s without a word", result.Status)
		}
		if length := utf8.RuneCountInString(result.Message); length > conditions.MessageLimit {
			t.Fatalf("a message of %d characters", length)
		}
		state, message := health.ModuleState(u)
		if length := utf8.RuneCountInString(message); len(state) > 63 || length > conditions.MessageLimit {
			t.Fatalf("state %q with a message of %d characters", state, length)
		}
	})
}
