package server

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

// waiting creates a local Kyma whose module lantern waits for a Deployment: its pod cannot pull its image.
func (s *site) waiting(name string) {
	s.Helper()
	no, labels := false, map[string]string{"app": "lantern"}
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "local"}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Remote: &no, Modules: []v1beta2.Module{{Name: "lantern", Version: "1.0.0"}}}
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "local-lantern", Labels: map[string]string{
		v1beta2.LabelKymaName: "local", v1beta2.LabelModuleName: "lantern", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
	}}}
	manifest.Spec.Install.Source.Raw, manifest.Spec.Version = []byte(`{}`), "1.0.0"
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "lantern"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels, d.Spec.Template.Spec.Containers = labels, []corev1.Container{{Name: "manager", Image: "lantern:1"}}
	s.make(namespace(name), kyma, manifest, d)
	r := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "lantern-1", Labels: labels, OwnerReferences: ownedBy(d, "Deployment")}}
	r.Spec.Selector, r.Spec.Template = d.Spec.Selector, d.Spec.Template
	s.make(r)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "lantern-1-x", Labels: labels, OwnerReferences: ownedBy(r, "ReplicaSet")}}
	pod.Spec = corev1.PodSpec{NodeName: "node", Containers: d.Spec.Template.Spec.Containers}
	s.make(pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "manager", Image: "lantern:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "ErrImagePull", Message: "manifest unknown\n\x1b[31m",
		}},
	}}}
	d.Status.ObservedGeneration, d.Status.Replicas, d.Status.UnavailableReplicas = d.Generation, 1, 1
	manifest.Status.State, manifest.Status.ObservedGeneration = v1beta2.StateProcessing, manifest.Generation
	manifest.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonWaitingForObjects,
		Message: "Deployment lantern: not ready", LastTransitionTime: metav1.Now(),
	}}
	manifest.Status.Synced = []v1beta2.Resource{{Name: "lantern", Namespace: name, Group: "apps", Version: "v1", Kind: "Deployment", Hash: "x"}}
	kyma.Status.State, kyma.Status.ObservedGeneration = v1beta2.StateProcessing, kyma.Generation
	kyma.Status.Modules = []v1beta2.ModuleStatus{{
		Name: "lantern", Version: "1.0.0", State: v1beta2.StateProcessing, Message: "Deployment lantern: not ready",
	}}
	for _, o := range []client.Object{pod, d, manifest, kyma} {
		if err := s.admin.Status().Update(s.Context(), o); err != nil {
			s.Fatal(err)
		}
	}
}

func ownedBy(o client.Object, kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: o.GetName(), UID: o.GetUID(), Controller: new(true)}}
}

func TestCause_ThePageOfAModuleSaysItInOneSentence(t *testing.T) {
	s := open(t, ModeLocal)
	s.waiting("cause")
	s.enter()
	d := get[moduleDetail](s, "/api/v1/modules/cause/local/lantern")
	c := d.Module.Cause
	want := "Container manager of Pod lantern-1-x has been waiting for its image for less than a minute: image lantern:1 is not in its registry"
	if c == nil || c.Sentence != want || c.Reason != rootcause.ImageNotFound || c.Remedy == "" || c.Object.Name != "lantern-1-x" {
		t.Fatalf("the cause: %+v", c)
	}
	if chain := c.Evidence[0]; chain.Text != "Deployment lantern > ReplicaSet lantern-1 > Pod lantern-1-x" || len(c.Unseen()) != 0 {
		t.Errorf("evidence: %+v", c.Evidence)
	}
	if len(d.Why) == 0 {
		t.Error("the chain is gone")
	}
	if list := get[List[modulestatus.Module]](s, "/api/v1/modules?kyma=cause/local"); len(list.Items) != 1 || list.Items[0].Cause != nil {
		t.Errorf("a list looks for causes: %+v", list.Items)
	}
}

func TestCause_WhoMayNotLookIsToldSo(t *testing.T) {
	s := open(t, ModeCluster)
	s.waiting("hidden")
	s.enterAs(s.token("reads-kymas", "hidden"))
	c := get[moduleDetail](s, "/api/v1/modules/hidden/local/lantern").Module.Cause
	if c == nil || !strings.HasPrefix(c.Sentence, "Module lantern has been in state Processing") {
		t.Fatalf("the cause: %+v", c)
	}
	if unseen := strings.Join(c.Unseen(), "\n"); !strings.Contains(unseen, "you may not list Deployment.apps in namespace hidden") {
		t.Errorf("what could not be read: %q", unseen)
	}
}

func TestCause_TheOverviewSaysWhatTheHubKnows(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("shallow")
	s.enter()
	overview := get[overview](s, "/api/v1/overview")
	for _, item := range overview.Attention.Items {
		if item.Kind == "Module" && !strings.Contains(item.Cause, item.Name) {
			t.Errorf("%s has the cause %q", item.Name, item.Cause)
		}
		if item.Kind != "Module" && item.Cause != "" {
			t.Errorf("%s %s has a cause", item.Kind, item.Name)
		}
	}
}
