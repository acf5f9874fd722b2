package getcmd

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// stuck creates a local Kyma whose module lamp waits for a Deployment, whose pod has no node. It is gone after the test: others show all.
func stuck(t *testing.T, name string) {
	t.Helper()
	c := apiserver.Client(t)
	no, labels := false, map[string]string{"app": "lamp"}
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "local"}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Remote: &no, Modules: []v1beta2.Module{{Name: "lamp", Version: "1.0.0"}}}
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "local-lamp", Labels: map[string]string{
		v1beta2.LabelKymaName: "local", v1beta2.LabelModuleName: "lamp", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
	}}}
	manifest.Spec.Install.Source.Raw, manifest.Spec.Version = []byte(`{}`), "1.0.0"
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "lamp"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels, d.Spec.Template.Spec.Containers = labels, []corev1.Container{{Name: "manager", Image: "lamp:1"}}
	r := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "lamp-1", Labels: labels}}
	r.Spec.Selector, r.Spec.Template = d.Spec.Selector, d.Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "lamp-1-x", Labels: labels}}
	pod.Spec.Containers = d.Spec.Template.Spec.Containers
	all := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, kyma, manifest, d, r, pod}
	for i, o := range all {
		if i > 3 {
			kind := map[int]string{4: "Deployment", 5: "ReplicaSet"}[i]
			o.SetOwnerReferences([]metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: kind, Name: all[i-1].GetName(), UID: all[i-1].GetUID(), Controller: new(true),
			}})
		}
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			t.Cleanup(func() {
				if err := c.Delete(context.Background(), o); err != nil {
					t.Error(err)
				}
			})
		}
	}
	d.Status.ObservedGeneration, d.Status.Replicas, d.Status.UnavailableReplicas = d.Generation, 1, 1
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.\x1b[2J", LastTransitionTime: metav1.Now(),
	}}}
	manifest.Status.State, manifest.Status.ObservedGeneration = v1beta2.StateProcessing, manifest.Generation
	manifest.Status.Synced = []v1beta2.Resource{{Name: "lamp", Namespace: name, Group: "apps", Version: "v1", Kind: "Deployment", Hash: "x"}}
	kyma.Status.State, kyma.Status.ObservedGeneration = v1beta2.StateProcessing, kyma.Generation
	kyma.Status.Modules = []v1beta2.ModuleStatus{{
		Name: "lamp", Version: "1.0.0", State: v1beta2.StateProcessing, Message: "Deployment lamp: not ready",
	}}
	for _, o := range []client.Object{d, pod, manifest, kyma} {
		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

const nowhere = "Pod lamp-1-x has been Pending for less than a minute: no node matches its selector"

// TestCauses_TheSameWordsEverywhere has one cause, which status and trace tell in text and JSON. A pod is traced by its owners.
func TestCauses_TheSameWordsEverywhere(t *testing.T) {
	config := startHub(t)
	stuck(t, "causes")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"status of a module": {[]string{"status", "lamp", "--kyma", "causes/local"}, []string{
			"  cause         " + nowhere + "\n", "  remedy        Label a node,", "  owners        Deployment lamp > ReplicaSet lamp-1 > Pod lamp-1-x\n",
		}},
		"status of all":       {[]string{"status", "--kyma", "causes/local"}, []string{"  cause         " + nowhere + "\n", "  remedy        Label a node,"}},
		"trace of the object": {[]string{"trace", "deployment/lamp", "-n", "causes"}, []string{"Manifest/causes/local-lamp", "\ncause         " + nowhere + "\n"}},
		"trace of the pod": {[]string{"trace", "pod/lamp-1-x", "-n", "causes"}, []string{
			"Pod/causes/lamp-1-x  (by its owner)\n└─ ReplicaSet/causes/lamp-1  (by its owner)\n   └─ Deployment/causes/lamp", nowhere,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said, _ := kyma(t, config, c.args...)
			for _, want := range c.want {
				if code != console.CodeOK || !strings.Contains(out, want) {
					t.Errorf("exit code %d, said %q, wrote\n%s\nwithout %q", code, said, out, want)
				}
			}
			if strings.Contains(out, "\x1b") {
				t.Errorf("it has a sequence that a terminal obeys: %q", out)
			}
		})
	}
	code, out, _, _ := kyma(t, config, "status", "lamp", "--kyma", "causes/local", "-o", "json")
	var list struct {
		Items []modulestatus.Module `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != console.CodeOK || len(list.Items) != 1 || list.Items[0].Cause == nil ||
		list.Items[0].Cause.Sentence != nowhere || list.Items[0].Cause.Reason != rootcause.NoNodeMatches {
		t.Errorf("JSON (%v):\n%s", err, out)
	}
}
