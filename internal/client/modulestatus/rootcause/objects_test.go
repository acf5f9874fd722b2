package rootcause

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const noPods = "ReplicaSet greeter-7d9 has not been able to create its pods for 30 min: "

// failed returns a ReplicaSet that cannot create its pods, for a reason that the API server gives.
func failed(message string) Evidence {
	d := deployment()
	r := replicas(d)
	r.Status.Replicas = 0
	r.Status.Conditions = []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: message, LastTransitionTime: before(30),
	}}
	return seen(greeter(), d, r)
}

func claim(class *string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: meta("data"),
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: class}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
}

func job(name string, owner ...metav1.Object) *batchv1.Job {
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: meta(name, owner...),
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded",
			Message: "Job has reached the specified backoff limit", LastTransitionTime: before(5),
		}}},
	}
}

func leaving(finalizers ...string) *corev1.ConfigMap {
	deleted := before(20)
	o := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta("settings")}
	o.Finalizers, o.DeletionTimestamp = finalizers, &deleted
	return o
}

// TestObjects has a sentence for every cause in other objects than pods.
func TestObjects(t *testing.T) {
	fast := "fast"
	early, late := job("early"), job("late")
	cron := &batchv1.CronJob{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}, ObjectMeta: meta("nightly")}
	early.OwnerReferences = []metav1.OwnerReference{{UID: cron.UID, Name: cron.Name}}
	late.OwnerReferences, late.CreationTimestamp = early.OwnerReferences, before(3)
	finished := pod(job("migrate"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, container(func(s *corev1.ContainerStatus) {
		s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 4}
	}))
	for name, c := range map[string]struct {
		of             Evidence
		reason, wanted string
	}{
		"a quota": {failed(`pods "greeter-7d9-x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=5, limited: pods=5`),
			QuotaExceeded, noPods + "quota few allows pods=5, pods=5 is used, and pods=1 is requested"},
		"a ServiceAccount": {failed(`pods "greeter-" is forbidden: error looking up service account kyma-system/greeter: serviceaccount "greeter" not found`),
			ServiceAccountMissing, noPods + "ServiceAccount kyma-system/greeter does not exist"},
		"a Pod Security Standard": {failed(`pods "greeter-" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`),
			PodSecurityRefused, noPods + "the Pod Security Standard restricted:latest forbids them: runAsNonRoot != true"},
		"a webhook that denies": {failed(`admission webhook "guard.example" denied the request: no label team`), AdmissionDenied,
			noPods + "admission webhook guard.example denies them: no label team"},
		"a policy that denies": {failed(`pods "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), AdmissionDenied,
			noPods + "admission policy p denies them: no"},
		"a webhook that does not answer": {failed(`Internal error occurred: failed calling webhook "guard.example": failed to call webhook: ` +
			`Post "https://guard.policies.svc:443/pods?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused`), WebhookUnreachable,
			noPods + "admission webhook guard.example (Service guard.policies) does not answer: connection refused"},
		"a controller without a permission": {failed(`User "system:replicaset" cannot create resource "pods" in API group ""`), PermissionDenied,
			noPods + "system:replicaset may not create pods"},
		"another refusal": {failed("the API server is tired"), PodsRefused, noPods + "the API server is tired"},
		"a StatefulSet that an event tells of": {seen(greeter(), &appsv1.StatefulSet{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: meta("store"),
		}).with(event("StatefulSet", "store", "FailedCreate", "create Pod store-0 failed: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0")),
			QuotaExceeded, "StatefulSet store has not been able to create its pods for 30 min: quota q allows pods=0, pods=0 is used, and pods=1 is requested"},
		"a Deployment without a ReplicaSet": {seen(greeter(), deployment()), NoPods,
			"Deployment greeter has had no pods for 34 min: its controller has created none"},
		"a claim without a class": {seen(greeter(), claim(nil, corev1.ClaimPending)), NoStorageClass,
			"PersistentVolumeClaim data has been Pending for 34 min: it names no StorageClass, and no volume fits it"},
		"a class that does not exist": {seen(greeter(), claim(&fast, corev1.ClaimPending)).with(event("PersistentVolumeClaim", "data",
			"ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)), NoStorageClass,
			"PersistentVolumeClaim data has been Pending for 34 min: StorageClass fast does not exist"},
		"a provisioner that does not work": {seen(greeter(), claim(&fast, corev1.ClaimPending)).with(Event{
			Object: modulestatus.Ref{Kind: "PersistentVolumeClaim", Namespace: ns, Name: "data"}, Reason: "ExternalProvisioning"}), NoProvisioner,
			"PersistentVolumeClaim data has been Pending for 34 min: the provisioner of StorageClass fast has not created a volume"},
		"a provisioner that fails": {seen(greeter(), claim(&fast, corev1.ClaimPending)).with(event("PersistentVolumeClaim", "data",
			"ProvisioningFailed", "no space left")), ProvisioningFailed,
			"PersistentVolumeClaim data has been Pending for 34 min: no space left"},
		"a claim without a volume": {seen(greeter(), claim(&fast, corev1.ClaimPending)), VolumeClaimPending,
			"PersistentVolumeClaim data has been Pending for 34 min: there is no volume of StorageClass fast yet"},
		"a claim that lost its volume": {seen(greeter(), claim(&fast, corev1.ClaimLost)), VolumeClaimLost,
			"PersistentVolumeClaim data has lost its volume for 34 min"},
		"a Job": {seen(greeter(), job("migrate")), JobFailed, "Job migrate failed 5 min ago: Job has reached the specified backoff limit"},
		"a Job with its pod": {seen(greeter(), job("migrate"), finished).logged("no table users"), JobFailed,
			"Job migrate failed 5 min ago: exit code 4, the last line of its log: no table users"},
		"the last Job of a CronJob": {seen(greeter(), cron, early, late), JobFailed, "Job late failed 5 min ago: Job has reached the specified backoff limit"},
		"a finalizer of a controller": {seen(greeter(), leaving("greeter.example/cleanup", "foregroundDeletion")), FinalizerHolds,
			"ConfigMap settings has been Terminating for 20 min: finalizer greeter.example/cleanup holds it, " +
				"which the controller of greeter.example has not removed (and 1 more)"},
		"a finalizer of Kubernetes": {seen(greeter(), leaving("kubernetes.io/pvc-protection")), FinalizerHolds,
			"ConfigMap settings has been Terminating for 20 min: finalizer kubernetes.io/pvc-protection holds it, a pod still uses it"},
		"an object that is gone": {func() Evidence {
			e := seen(greeter())
			e.Missing = []modulestatus.Ref{{Kind: "Service", Namespace: ns, Name: "greeter"}}
			return e
		}(), modulestatus.WhyMissing, "Service greeter is missing: the module installs it, and the cluster does not have it"},
	} {
		t.Run(name, func(t *testing.T) {
			got := cause(t, c.of)
			if got.Sentence != c.wanted || got.Reason != c.reason || got.Remedy == "" {
				t.Errorf("%s: %q\nwant %s: %q", got.Reason, got.Sentence, c.reason, c.wanted)
			}
		})
	}
}

// TestModule has a sentence for each group of reasons of Kymas and Manifests.
func TestModule(t *testing.T) {
	resource := &modulestatus.Ref{APIVersion: "greeter.example/v1", Kind: "Greeter", Namespace: ns, Name: "default"}
	for name, c := range map[string]struct {
		of             *modulestatus.Module
		reason, wanted string
	}{
		"a signature": {refused(v1beta2.ReasonSignatureUntrusted, "no trusted key made it"), v1beta2.ReasonSignatureUntrusted,
			"The signature of module greeter has been refused for 40 min: no trusted key made it"},
		"a registry": {refused(v1beta2.ReasonRegistryUnreachable, "connection refused"), v1beta2.ReasonRegistryUnreachable,
			"The registry of module greeter has not been reachable for 40 min: connection refused"},
		"content": {refused(v1beta2.ReasonDigestMismatch, "other bytes"), v1beta2.ReasonDigestMismatch,
			"The content of module greeter has been refused for 40 min: other bytes"},
		"a definition": {refused(v1beta2.ReasonCRDChangeRefused, "field spec.size is removed"), v1beta2.ReasonCRDChangeRefused,
			"The content of module greeter has contained a change that would break users for 40 min: field spec.size is removed"},
		"a runtime": {refused(v1beta2.ReasonRuntimeUnreachable, "no answer"), v1beta2.ReasonRuntimeUnreachable,
			"The runtime of Kyma kcp-system/alice has not been reachable for 40 min: no answer"},
		"the access to a runtime": {refused(v1beta2.ReasonRuntimeUnauthorized, "401"), v1beta2.ReasonRuntimeUnauthorized,
			"The access to the runtime of Kyma kcp-system/alice has been refused for 40 min: 401"},
		"permissions": {refused(v1beta2.ReasonMissingPermissions, "may not create deployments"), v1beta2.ReasonMissingPermissions,
			"The lifecycle manager has lacked permissions for 40 min: may not create deployments"},
		"a channel": {refused(v1beta2.ReasonChannelNotFound, "no version found"), v1beta2.ReasonChannelNotFound,
			"Module greeter has had no version to install for 40 min: no version found"},
		"a quota that refuses an object": {refused(v1beta2.ReasonQuotaExceeded, "ConfigMap a/b: exceeded quota: q, requested: x=1, used: x=2, limited: x=2"),
			QuotaExceeded, "Module greeter has not been applied for 40 min: quota q allows x=2, x=2 is used, and x=1 is requested"},
		"a webhook that does not answer": {refused(v1beta2.ReasonObjectRefused, `Service a/b: failed calling webhook "w.example": EOF`),
			WebhookUnreachable, "Module greeter has not been applied for 40 min: admission webhook w.example does not answer: EOF"},
		"a webhook that denies an object": {refused(v1beta2.ReasonAdmissionDenied, `admission webhook "w.example" denied the request: no`),
			AdmissionDenied, "Module greeter has not been applied for 40 min: admission webhook w.example denies an object: no"},
		"consent": {greeter(func(m *modulestatus.Module) {
			m.Pending = &v1beta2.PendingVersion{Version: "1.1.0"}
			m.Installation.Reason, m.Installation.Message = v1beta2.ReasonApprovalRequired, "new permissions"
		}), v1beta2.ReasonApprovalRequired, "Version 1.1.0 of module greeter has been waiting for consent for 40 min: new permissions"},
		"a maintenance window": {greeter(func(m *modulestatus.Module) {
			m.Version.Desired = "1.2.0"
			m.Installation.Reason, m.Installation.Message = v1beta2.ReasonWaitingForMaintenanceWindow, "it opens on Monday"
		}), v1beta2.ReasonWaitingForMaintenanceWindow,
			"Version 1.2.0 of module greeter has been waiting for a maintenance window for 40 min: it opens on Monday"},
		"a deletion": {greeter(func(m *modulestatus.Module) {
			m.State = modulestatus.Deleting
			m.Installation.Reason, m.Installation.Message = v1beta2.ReasonDeletionBlocked, "Greeter default exists"
		}), v1beta2.ReasonDeletionBlocked, "The deletion of module greeter has been held for 40 min: Greeter default exists"},
		"its own resource": {greeter(func(m *modulestatus.Module) {
			m.State, m.Resource = modulestatus.Error, resource
			m.Module = modulestatus.Condition{State: modulestatus.Error, Reason: "Error", Message: resource.String() + ": no credentials"}
		}), v1beta2.ReasonModuleCRNotReady, "Greeter default has reported Error for 40 min: no credentials"},
		"what is not known any better": {greeter(), v1beta2.ReasonWaitingForObjects,
			"Module greeter has been in state Processing for 40 min: Deployment greeter: Available: 0/1"},
		"a module that tells nothing": {&modulestatus.Module{Name: "lone", State: modulestatus.Unknown}, NotReady,
			"Module lone has been in state Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			got := cause(t, Evidence{Module: c.of})
			if got.Sentence != c.wanted || got.Reason != c.reason {
				t.Errorf("%s: %q\nwant %s: %q", got.Reason, got.Sentence, c.reason, c.wanted)
			}
		})
	}
}

func TestNothingOfAReadyModule(t *testing.T) {
	if c := Of(Evidence{Module: greeter(func(m *modulestatus.Module) { m.State = modulestatus.Ready })}, noon); c != nil {
		t.Errorf("it has a cause: %+v", c)
	}
	if c := Of(Evidence{}, noon); c != nil {
		t.Errorf("no module has a cause: %+v", c)
	}
}

// TestTheWorstAndDeepestWins has several causes at once: the claim explains the pod, and what is left of an earlier version explains nothing.
func TestTheWorstAndDeepestWins(t *testing.T) {
	d := deployment()
	r := replicas(d)
	e := seen(greeter(), d, r, claim(nil, corev1.ClaimPending), pod(r, unscheduled("pod has unbound immediate PersistentVolumeClaims")))
	got := cause(t, e)
	if got.Reason != NoStorageClass || len(got.Also) != 1 || !strings.HasPrefix(got.Also[0], "Pod greeter-7d9-x has been Pending") {
		t.Errorf("got %+v", got)
	}
	ready := deployment()
	ready.Status.Conditions[0].Status, ready.Status.UnavailableReplicas, ready.Status.UpdatedReplicas = corev1.ConditionTrue, 0, 1
	ready.Status.AvailableReplicas, ready.Status.ReadyReplicas = 1, 1
	e = seen(refused(v1beta2.ReasonSignatureMissing, "no signature"), ready, r, pod(r, crashed(1, "Error", 3)))
	if got = cause(t, e); got.Reason != v1beta2.ReasonSignatureMissing || len(got.Also) != 0 {
		t.Errorf("a workload that is ready explains something: %+v", got)
	}
}

// TestEqualCausesAreMerged has three pods of one Deployment that crash alike.
func TestEqualCausesAreMerged(t *testing.T) {
	d := deployment()
	r := replicas(d)
	one, two, three := pod(r, crashed(1, "Error", 3)), pod(r, crashed(1, "Error", 9)), pod(r, crashed(1, "Error", 4))
	two.Name, two.UID, three.Name, three.UID = "greeter-7d9-y", "y", "greeter-7d9-z", "z"
	two.Status.Conditions[1].LastTransitionTime = before(50)
	got := cause(t, seen(greeter(), d, r, one, two, three))
	want := "Container manager of Pod greeter-7d9-y (and 2 more) has been crashing for 50 min: exit code 1 after 9 restarts"
	if got.Sentence != want || len(got.Also) != 0 {
		t.Errorf("%q, also %q\nwant %q", got.Sentence, got.Also, want)
	}
}

// TestWhatCouldNotBeReadIsPartOfTheAnswer has a user who may not list pods, and one who may not read logs.
func TestWhatCouldNotBeReadIsPartOfTheAnswer(t *testing.T) {
	e := seen(greeter(), deployment())
	e.Looked, e.Unread = nil, []Unread{
		{"ReplicaSet", ns, "you may not list replicasets.apps in namespace kyma-system"}, {"Pod", ns, "you may not list pods in namespace kyma-system"},
	}
	got := cause(t, e)
	want := "Deployment greeter has not been ready for 34 min: " +
		"its pods cannot be looked at: you may not list replicasets.apps in namespace kyma-system"
	if got.Sentence != want || got.Reason != PodsNotReadable || len(got.Unseen()) != 2 {
		t.Errorf("%s: %q, unread %q", got.Reason, got.Sentence, got.Unseen())
	}
	e.Unread = nil // neither listed nor refused: nothing is known of its pods
	if got = cause(t, e); got.Reason == NoPods {
		t.Errorf("pods that were not looked for count as absent: %q", got.Sentence)
	}
}

// TestThePageHasTheTable compares the table with docs/spec/causes.md.
func TestThePageHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/spec/causes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "\n## Reasons and remedies\n")
	seen := map[string]bool{}
	for _, row := range Table {
		if seen[row.Reason] {
			t.Errorf("%s stands twice", row.Reason)
		}
		seen[row.Reason] = true
		if line := "| `" + row.Reason + "` | " + row.Means + " | " + row.Remedy + " |\n"; !strings.Contains(rows, line) {
			t.Errorf("the page has no line\n%s", line)
		}
	}
	if n := strings.Count(rows, "\n| `"); n != len(Table) {
		t.Errorf("the page has %d rows, the table %d", n, len(Table))
	}
}
