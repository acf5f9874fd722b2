package causereader

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

func TestCrashLoopWithTheLastLineOfAHostileLog(t *testing.T) {
	p := newPlace(t, "crash", "")
	p.access.Logs = printing("starting\n\x1b[31mpanic: no config for https://user:pass@db.example\x1b[0m\n" + strings.Repeat(" ", 100) + "\n")
	p.pod(p.deployed(), corev1.ContainerStatus{
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off\x00 5m"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2}}, RestartCount: 4,
	})
	c := p.cause()
	want := "Container manager of Pod greeter-7d9-x has been crashing for 34 min: exit code 2 after 4 restarts, the last line of its log: " +
		"[31mpanic: no config for https://***@db.example [0m"
	if c.Sentence != want || c.Reason != rootcause.Crashing || c.Object.Namespace != p.name {
		t.Errorf("%s: %q\nwant %q", c.Reason, c.Sentence, want)
	}
	if strings.ContainsFunc(c.Sentence, unicode.IsControl) {
		t.Errorf("%q has a sequence that a terminal obeys", c.Sentence)
	}
	p.access.Logs = func(context.Context, string, string, string, bool) (io.ReadCloser, error) { return nil, errRefused }
	if c = p.cause(); len(c.Unseen()) != 1 || !strings.Contains(c.Unseen()[0], "the log of Pod crash/greeter-7d9-x cannot be read") {
		t.Errorf("a log that cannot be read: %q", c.Unseen())
	}
}

func TestImagePullWithAHostileEvent(t *testing.T) {
	p := newPlace(t, "pull", "")
	pod := p.pod(p.deployed(), corev1.ContainerStatus{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"}},
	})
	p.event("Pod", pod, "Failed", "Failed to pull image: 401 Unauthorized\n\x1b]0;title\a"+strings.Repeat("x", 900))
	gone := pod.DeepCopy()
	gone.UID = "another"
	p.event("Pod", gone, "Failed", "Failed to pull: dial tcp: no such host") // of a pod of that name that is gone
	c := p.cause()
	if want := "Container manager of Pod greeter-7d9-x has been waiting for its image for 34 min: image greeter:1 may not be pulled"; c.Sentence != want {
		t.Errorf("%s: %q\nwant %q", c.Reason, c.Sentence, want)
	}
	for _, f := range c.Evidence {
		if len(f.Text) > rootcause.MostFact || strings.ContainsFunc(f.Text, unicode.IsControl) || strings.Contains(f.Text, "no such host") {
			t.Errorf("evidence: %q", f.Text)
		}
	}
}

func TestPodThatWaitsForItsClaim(t *testing.T) {
	p := newPlace(t, "claim", "")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "data"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	p.add(claim)
	p.event("PersistentVolumeClaim", claim, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	p.pod(p.deployed(), corev1.ContainerStatus{}, func(pod *corev1.Pod) {
		pod.Spec.NodeName = ""
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.", LastTransitionTime: ago(34),
		}}
	})
	c := p.cause()
	want := "PersistentVolumeClaim data has been Pending for less than a minute: it names no StorageClass, and the cluster has no default one"
	if c.Sentence != want || len(c.Also) != 1 || !strings.HasPrefix(c.Also[0], "Pod greeter-7d9-x has been Pending for 34 min") {
		t.Errorf("%s: %q, also %q\nwant %q", c.Reason, c.Sentence, c.Also, want)
	}
}

func TestQuotaThatAnEventTellsOf(t *testing.T) {
	p := newPlace(t, "quota", "")
	r := p.deployed(func(r *appsv1.ReplicaSet) { r.Status.Replicas = 0 })
	p.event("ReplicaSet", r, "FailedCreate", `pods "greeter-7d9-x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=5, limited: pods=5`)
	c := p.cause()
	want := "ReplicaSet greeter-7d9 has not been able to create its pods for 1 min: quota few allows pods=5, pods=5 is used, and pods=1 is requested"
	if c.Sentence != want || c.Reason != rootcause.QuotaExceeded {
		t.Errorf("%s: %q\nwant %q", c.Reason, c.Sentence, want)
	}
}

func TestFinalizerAndWhatIsMissing(t *testing.T) {
	p := newPlace(t, "leaving", "")
	held := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "nightly", Finalizers: []string{"greeter.example/cleanup"}}}
	held.Spec.Schedule = "0 0 * * *"
	held.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}
	p.add(held)
	if err := p.Delete(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		held.Finalizers = nil
		if err := p.Update(context.Background(), held); err != nil && !strings.Contains(err.Error(), "modified") {
			t.Error(err)
		}
	})
	p.installed("batch", "CronJob", "nightly")
	want := "CronJob nightly has been Terminating for less than a minute: finalizer greeter.example/cleanup holds it, " +
		"which the controller of greeter.example has not removed"
	if c := p.cause(); c.Sentence != want {
		t.Errorf("%s: %q\nwant %q", c.Reason, c.Sentence, want)
	}
	p.installed("apps", "Deployment", "gone")
	if c := p.cause(); c.Reason != modulestatus.WhyMissing || c.Object.Name != "gone" || len(c.Also) != 1 {
		t.Errorf("%s: %q, also %q", c.Reason, c.Sentence, c.Also)
	}
}

// TestWithoutRights has users who may read less and less: the answer says what could not be read, and takes nothing for absent.
func TestWithoutRights(t *testing.T) {
	deployments := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}}
	pods := rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}
	for name, c := range map[string]struct {
		rules  []rbacv1.PolicyRule
		want   string
		unseen []string
	}{
		"reads-no-pods": {[]rbacv1.PolicyRule{deployments}, "Deployment greeter has not been ready for less than a minute: " +
			"its pods cannot be looked at: you may not list ReplicaSet.apps in namespace reads-no-pods", []string{
			"you may not list Event in namespace reads-no-pods", "you may not list Pod in namespace reads-no-pods",
			"you may not list ReplicaSet.apps in namespace reads-no-pods",
		}},
		"reads-pods": {[]rbacv1.PolicyRule{deployments, pods}, "Container manager of Pod greeter-7d9-x has been crashing for 34 min: exit code 2",
			[]string{
				"you may not list Event in namespace reads-pods", "you may not list ReplicaSet.apps in namespace reads-pods",
				"you may not read the log of Pod reads-pods/greeter-7d9-x",
			}},
		"reads-nothing": {[]rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"services"}}},
			"Module greeter has been in state Processing: Deployment greeter: not ready", []string{"you may not list Deployment.apps in namespace reads-nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, name, name)
			p.pod(p.deployed(), corev1.ContainerStatus{
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2}},
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			})
			p.allow(name, c.rules...)
			got := p.cause()
			if got.Sentence != c.want || strings.Join(got.Unseen(), "\n") != strings.Join(c.unseen, "\n") {
				t.Errorf("%s: %q, unread %q\nwant %q, unread %q", got.Reason, got.Sentence, got.Unseen(), c.want, c.unseen)
			}
		})
	}
}

// TestNothingIsReadOfAReadyModule counts requests: also those for a module with more of everything than is read.
func TestNothingIsReadOfAReadyModule(t *testing.T) {
	p := newPlace(t, "count", "")
	for range 30 {
		p.installed("apps", "Deployment", "d"+strings.Repeat("x", len(p.synced)))
	}
	in, m := p.inputs(modulestatus.Ready)
	if Read(t.Context(), p.access, &in, m); p.requests.Load() != 0 {
		t.Errorf("%d requests for a module that is ready", p.requests.Load())
	}
	if c := p.cause(); c.Reason != modulestatus.WhyMissing {
		t.Errorf("got %+v", c)
	}
}
