package health_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

func TestKinds_OfNamespace(t *testing.T) {
	runHealth(t, "v1", "Namespace", []healthCase{
		{"it is ready when it is active", "status: {phase: Active}", health.Ready, "active"},
		{"it is terminating when its phase is", "status: {phase: Terminating}", health.Terminating, "is being deleted"},
		{"it is terminating when it is deleted", "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: Active}",
			health.Terminating, "is being deleted"},
		{"it is in progress without a phase", "metadata: {name: a}", health.InProgress, "is not active yet"},
		{"a phase that no one knows is unknown", "status: {phase: Dancing}", health.Unknown, `is in the phase "Dancing"`},
	})
}

func TestKinds_OfPersistentVolumeClaim(t *testing.T) {
	runHealth(t, "v1", "PersistentVolumeClaim", []healthCase{
		{"it is ready when it is bound", "status: {phase: Bound}", health.Ready, "bound"},
		{"it is in progress while it has no volume", "status: {phase: Pending}", health.InProgress,
			"no volume is bound yet; check its storage class, some wait until a pod uses the claim"},
		{"it has failed when its volume is lost", "status: {phase: Lost}", health.Failed,
			"its volume is lost; restore the volume, or delete the claim to get a new one"},
		{"it is in progress before it was observed", "metadata: {name: a}", health.InProgress, "was not observed yet"},
		{"a phase that no one knows is unknown", "status: {phase: Dancing}", health.Unknown, `is in the phase "Dancing"`},
	})
}

func TestKinds_OfCustomResourceDefinition(t *testing.T) {
	runHealth(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", []healthCase{
		{"it is in progress before it was observed", "metadata: {name: a, generation: 1}", health.InProgress, "Install in progress"},
		{"it is in progress while it is being installed", `
status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "False", reason: Installing}]}`,
			health.InProgress, "Install in progress"},
		{"it is ready when it is established",
			"status: {conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}",
			health.Ready, "CRD is established"},
		{"it has failed when another definition has its names", `
status: {conditions: [{type: NamesAccepted, status: "False", reason: PluralConflict, message: '"samples" is already in use'}]}`,
			health.Failed, `"samples" is already in use`},
		{"a failure without a message has a reason", "status: {conditions: [{type: NamesAccepted, status: 'False', reason: PluralConflict}]}",
			health.Failed, "PluralConflict"},
		{"a failure without reason and message is still a failure", "status: {conditions: [{type: NamesAccepted, status: 'False'}]}",
			health.Failed, "it failed without a message"},
	})
}

func TestKinds_OfAPIService(t *testing.T) {
	runHealth(t, "apiregistration.k8s.io/v1", "APIService", []healthCase{
		{"it is in progress before it was observed", "metadata: {name: a}", health.InProgress, "was not observed yet"},
		{"it is ready when its server responds", "status: {conditions: [{type: Available, status: 'True', reason: Passed}]}", health.Ready,
			"available"},
		{"it is in progress while its server does not respond", `
status:
  conditions:
  - {type: Available, status: "False", reason: MissingEndpoints, message: endpoints for service/a in "b" have no addresses}`,
			health.InProgress, `is not available: MissingEndpoints: endpoints for service/a in "b" have no addresses`},
		{"a message without a reason", "status: {conditions: [{type: Available, status: 'False', message: no answer}]}", health.InProgress,
			"is not available: no answer"},
		{"it needs no reason and no message", "status: {conditions: [{type: Available, status: Unknown}]}", health.InProgress,
			"is not available: it reports no reason"},
	})
}

func TestKinds_OfOtherKindsOfKubernetes(t *testing.T) {
	runHealth(t, "v1", "ConfigMap", []healthCase{
		{"a ConfigMap is ready as soon as it exists", "data: {a: b}", health.Ready, "Resource is always ready"},
	})
	runHealth(t, "v1", "Service", []healthCase{
		{"a load balancer is in progress without an address", "spec: {type: LoadBalancer}", health.InProgress,
			"ClusterIP not set. Service type: LoadBalancer"},
		{"a Service is ready otherwise", "spec: {clusterIP: 10.0.0.1}", health.Ready, "Service is ready"},
	})
	runHealth(t, "rbac.authorization.k8s.io/v1", "ClusterRole", []healthCase{
		{"a kind without status is ready as soon as it exists", "rules: []", health.Ready, "Resource is current"},
	})
}

func TestKinds_OfCustomResource(t *testing.T) {
	const meta = "metadata: {name: a, generation: 3}\n"
	runHealth(t, "operator.kyma-project.io/v1alpha1", "Sample", []healthCase{
		{"it is ready without a status, for there is nothing to wait for", meta, health.Ready, "Resource is current"},
		{"it is ready when its condition Ready is true", meta + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}",
			health.Ready, "Resource is Ready"},
		{"it is in progress when its condition Ready is false", meta + `
status: {conditions: [{type: Ready, status: "False", reason: Waiting, message: waits for a Secret}]}`,
			health.InProgress, "waits for a Secret"},
		{"the reason stands in for a message", meta + "status: {conditions: [{type: Ready, status: Unknown, reason: Waiting}]}",
			health.InProgress, "Waiting"},
		{"no reason and no message is in progress too", meta + "status: {conditions: [{type: Ready, status: 'False'}]}",
			health.InProgress, "it is not ready, without a message"},
		{"an old status does not cover the current generation", meta +
			"status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}",
			health.InProgress, "generation 3 was not observed yet, the last one was 2"},
		{"nor does an old condition", meta + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}",
			health.InProgress, "generation 3 was not observed yet, condition Ready refers to generation 2"},
		{"it is in progress while it reconciles", meta + "status: {conditions: [{type: Reconciling, status: 'True', message: at it}]}",
			health.InProgress, "at it"},
		{"it has failed when it is stalled", meta + "status: {conditions: [{type: Stalled, status: 'True', reason: Broken, message: no way}]}",
			health.Failed, "no way"},
		{"its status.state of the Kyma convention does not count here", meta + "status: {state: Error}", health.Ready, "Resource is current"},
		{"it is terminating when it is deleted, and lists its finalizers",
			"metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [x/one, x/two]}", health.Terminating,
			"is being deleted; waits for x/one, x/two to let go of it"},
	})
}

func TestKinds_OfWhatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		name, text string
	}{
		{"conditions that are not a list", "{apiVersion: x.io/v1, kind: A, status: {conditions: oops}}"},
		{"conditions that are not objects", "{apiVersion: x.io/v1, kind: A, status: {conditions: [1, 2]}}"},
		{"a status that is not an object", "{apiVersion: apps/v1, kind: DaemonSet, metadata: {generation: 1}, status: oops}"},
		{"a generation that is not a number", "{apiVersion: x.io/v1, kind: A, metadata: {generation: oops}}"},
		{"a deletion timestamp that is not a string", "{apiVersion: x.io/v1, kind: A, metadata: {deletionTimestamp: {a: b}}}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := health.Of(object(t, test.text))
			if got.Status != health.Unknown || !strings.HasPrefix(got.Message, "its status cannot be read: ") {
				t.Errorf("got %+v", got)
			}
		})
	}
	if got := health.Of(nil); got.Status != health.Unknown {
		t.Errorf("got %+v for no object", got)
	}
	if got := health.Of(&unstructured.Unstructured{}); got.Status == health.Unknown && got.Message == "" {
		t.Errorf("got %+v for an empty object", got)
	}
}

func TestKinds_OfReadsEveryTypeOfNumber(t *testing.T) {
	for name, observed := range map[string]any{"int": 1, "float64": float64(1), "int64": int64(1)} {
		t.Run(name, func(t *testing.T) {
			u := object(t, "{apiVersion: x.io/v1, kind: A, metadata: {generation: 2}}")
			u.Object["status"] = map[string]any{"observedGeneration": observed}
			want := health.Result{Status: health.InProgress, Message: "generation 2 was not observed yet, the last one was 1"}
			if diff := cmp.Diff(want, health.Of(u)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKinds_OfBoundsItsMessage(t *testing.T) {
	u := object(t, "{apiVersion: x.io/v1, kind: A}")
	u.Object["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "False", "message": strings.Repeat("x", 1<<20)},
	}}
	if got := health.Of(u); len(got.Message) > 2*conditions.MessageLimit || got.Status != health.InProgress {
		t.Errorf("%s with %d bytes", got.Status, len(got.Message))
	}
}
