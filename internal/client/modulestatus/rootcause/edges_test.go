package rootcause

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// runs is a pod whose container runs without being ready, and has restarted some times.
func runs(restarts int32, code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		container(func(s *corev1.ContainerStatus) {
			s.State.Running = &corev1.ContainerStateRunning{}
			if s.RestartCount = restarts; restarts > 0 {
				s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code}
			}
		})(p)
	}
}

// terminating is a namespace whose content is held.
func terminating() *corev1.Namespace {
	deleted := before(20)
	o := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	o.Name, o.DeletionTimestamp, o.Spec.Finalizers = "greeter-system", &deleted, []corev1.FinalizerName{corev1.FinalizerKubernetes}
	o.Status.Conditions = []corev1.NamespaceCondition{{
		Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Message: "Some resources are remaining: greeters has 1 resource instances",
	}}
	return o
}

// own is the module's own resource, which has not been ready for a while.
func own() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "greeter.example/v1", "kind": "Greeter", "metadata": map[string]any{"namespace": ns, "name": "default"},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "False", "lastTransitionTime": before(10).UTC().Format("2006-01-02T15:04:05Z"),
		}}},
	}}
}

// TestEdges has the less usual forms of causes.
func TestEdges(t *testing.T) {
	fast := "fast"
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "guards"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "w.example"}},
	}
	reports := seen(greeter(func(m *modulestatus.Module) {
		m.Resource = &modulestatus.Ref{APIVersion: "greeter.example/v1", Kind: "Greeter", Namespace: ns, Name: "default"}
		m.Module = modulestatus.Condition{State: modulestatus.Warning, Message: "Greeter kyma-system/default: slow"}
	}))
	reports.Objects = append(reports.Objects, own())
	for name, c := range map[string]struct {
		of             Evidence
		reason, wanted string
	}{
		"a container between two crashes": {running(runs(3, 1)), Crashing, crashes + "exit code 1 after 3 restarts"},
		"a refusal from before": {running(runs(0, 0)).with(event("ReplicaSet", "greeter-7d9", "FailedCreate", "exceeded quota")), NotReadyYet,
			"Container manager of Pod greeter-7d9-x has run without being ready for 33 min: its readiness probe has not succeeded"},
		"a panic after a probe had failed": {running(crashed(2, "Error", 2)).with(
			event("Pod", "greeter-7d9-x", "Unhealthy", "Liveness probe failed: 500")), Crashing, crashes + "exit code 2 after 2 restarts"},
		"a DaemonSet without pods": {seen(greeter(), &appsv1.DaemonSet{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: meta("agent"),
			Status: appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 2},
		}).with(event("DaemonSet", "agent", "FailedCreate", `violates PodSecurity "baseline:v1": hostPath`)), PodSecurityRefused,
			"DaemonSet agent has not been able to create its pods for 30 min: the Pod Security Standard baseline:v1 forbids them: hostPath"},
		"a container without an event": {running(runs(0, 0)), NotReadyYet,
			"Container manager of Pod greeter-7d9-x has run without being ready for 33 min: its readiness probe has not succeeded"},
		"a probe that says nothing": {running(runs(0, 0)).with(event("Pod", "greeter-7d9-x", "Unhealthy", "Readiness probe failed: ")),
			ReadinessProbeFailing, "Container manager of Pod greeter-7d9-x has run without being ready for 33 min: its readiness probe fails"},
		"a pod that has failed": {running(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, container(func(s *corev1.ContainerStatus) {
			s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 9, Signal: 9}
		})), Crashing, "Pod greeter-7d9-x failed 33 min ago: signal 9"},
		"a pod that the node has refused": {running(func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "NodeAffinity", "does not match"
		}), Crashing, "Pod greeter-7d9-x failed 33 min ago: NodeAffinity does not match"},
		"a crash of which only the back-off is known": {running(waiting("CrashLoopBackOff", "")).logged("no route"), Crashing, crashes + "no route"},
		"memory without a limit": {running(crashed(137, "OOMKilled", 1)), OutOfMemory,
			"Container manager of Pod greeter-7d9-x has been killed for lack of memory for 33 min: it needs more memory than it may have"},
		"settings that are wrong": {running(waiting("CreateContainerConfigError", "runAsNonRoot")), ContainerNotStarted,
			"Container manager of Pod greeter-7d9-x cannot be started for 33 min: runAsNonRoot"},
		"a key of a volume": {running().with(event("Pod", "greeter-7d9-x", "FailedMount", "references non-existent secret key: tls.crt")),
			ConfigMissing, "Pod greeter-7d9-x has not started for 33 min: the Secret of a volume has no key tls.crt"},
		"a key of a ConfigMap": {running().with(event("Pod", "greeter-7d9-x", "FailedMount", "references non-existent config key: a")),
			ConfigMissing, "Pod greeter-7d9-x has not started for 33 min: the ConfigMap of a volume has no key a"},
		"a scheduling gate": {running(unscheduled(""), func(p *corev1.Pod) { p.Status.Conditions[0].Reason = "SchedulingGated" }), NotScheduled,
			pending + "scheduling gates hold it: their owner has not removed them"},
		"nodes that refuse for reasons of their own": {running(unscheduled("0/2 nodes are available: 2 node(s) sulk.")), NotScheduled,
			pending + "0/2 nodes are available: 2 node(s) sulk"},
		"a claim that waits for its first pod": {seen(greeter(), claim(&fast, corev1.ClaimPending)).with(
			event("PersistentVolumeClaim", "data", "WaitForFirstConsumer", "")), ObjectNotReady,
			"PersistentVolumeClaim data has not been ready for 34 min: no volume is bound yet; check its storage class, some wait until a pod uses the claim"},
		"a claim that nothing fits": {seen(greeter(), claim(&fast, corev1.ClaimPending)).with(
			event("PersistentVolumeClaim", "data", "FailedBinding", "volume is bound elsewhere")), VolumeClaimPending,
			"PersistentVolumeClaim data has been Pending for 34 min: volume is bound elsewhere"},
		"no default class": {seen(greeter(), claim(nil, corev1.ClaimPending)).with(
			event("PersistentVolumeClaim", "data", "FailedBinding", "no storage class is set")), NoStorageClass,
			"PersistentVolumeClaim data has been Pending for 34 min: it names no StorageClass, and the cluster has no default one"},
		"a namespace that is not empty": {seen(greeter(), terminating()), FinalizerHolds,
			"Namespace greeter-system has been Terminating for 20 min: Some resources are remaining: greeters has 1 resource instances"},
		"a finalizer without an owner": {seen(greeter(), leaving("cleanup")), FinalizerHolds,
			"ConfigMap settings has been Terminating for 20 min: finalizer cleanup holds it, which its controller has not removed"},
		"a webhook of the module itself": {seen(refused(v1beta2.ReasonObjectRefused, `failed calling webhook "w.example": timeout`), hook),
			WebhookUnreachable, "Module greeter has not been applied for 40 min: " +
				"admission webhook w.example of ValidatingWebhookConfiguration guards does not answer: timeout"},
		"a webhook that denies without a reason": {failed(`admission webhook "w.example" denied the request without explanation`), AdmissionDenied,
			noPods + "admission webhook w.example denies them"},
		"a resource with its own time": {reports, v1beta2.ReasonModuleCRNotReady, "Greeter default has reported Warning for 10 min: slow"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cause(t, c.of); got.Sentence != c.wanted || got.Reason != c.reason {
				t.Errorf("%s: %q\nwant %s: %q", got.Reason, got.Sentence, c.reason, c.wanted)
			}
		})
	}
}

// TestWhereTheStatusIs names the object whose status tells of the installation.
func TestWhereTheStatusIs(t *testing.T) {
	record := &modulestatus.Key{Namespace: "klm", Name: "r"}
	for want, m := range map[string]*modulestatus.Module{
		"Manifest kcp-system/alice-greeter": greeter(),
		"Kyma kcp-system/alice":             greeter(func(m *modulestatus.Module) { m.Manifest = nil }),
		"Secret klm/r":                      greeter(func(m *modulestatus.Module) { m.Manifest, m.Kyma, m.Record = nil, "", record }),
		"Module greeter":                    greeter(func(m *modulestatus.Module) { m.Manifest, m.Kyma = nil, "" }),
	} {
		if got := cause(t, Evidence{Module: m}).Object.String(); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
	direct := refused(v1beta2.ReasonRuntimeUnreachable, "no answer")
	direct.Kyma = ""
	if got := cause(t, Evidence{Module: direct}).Sentence; got != "The cluster of module greeter has not been reachable for 40 min: no answer" {
		t.Errorf("without a Kyma: %q", got)
	}
}
