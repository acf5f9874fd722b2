package statusreader

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestReadOutlook_KeepsWhatDecisionsLookAt(t *testing.T) {
	c := admin(t)
	const in = "outlook"
	create(t, c, namespace(in))
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "eventing"}}
	release.Spec.ModuleName, release.Spec.OCMComponentName = "eventing", "example.com/eventing"
	release.Spec.Channels = []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}}
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "demo", Labels: map[string]string{"ring": "canary"}}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "eventing"}, {Name: "other", Version: "1.0.0"}}}
	create(t, c, release, kyma)
	kyma.Status.Conditions = []metav1.Condition{
		{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonRuntimeUnreachable, LastTransitionTime: metav1.Now()},
		{Type: v1beta2.ConditionModules, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonReady, LastTransitionTime: metav1.Now()},
	}
	kyma.Status.LastSeen = &v1beta2.LastSeen{
		Hub:     &v1beta2.SeenSpec{Channel: "regular", Modules: []v1beta2.SeenModule{{Name: "eventing"}, {Name: "other", Version: "1.0.0"}}},
		Runtime: &v1beta2.SeenSpec{Channel: "fast", Modules: []v1beta2.SeenModule{{Name: "eventing"}}},
	}
	kyma.Status.State = v1beta2.StateError
	kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "eventing", State: v1beta2.StateReady, Version: "1.0.0", Message: "long"}}
	if err := c.Status().Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	for name, labels := range map[string]map[string]string{
		"demo-eventing": {v1beta2.LabelModuleName: "eventing", v1beta2.LabelKymaName: "demo", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager},
		"demo-other":    {v1beta2.LabelModuleName: "other", v1beta2.LabelKymaName: "demo", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager},
		"standalone":    {v1beta2.LabelModuleName: "eventing", v1beta2.LabelKymaName: "demo"},
	} {
		m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: name, Labels: labels}}
		m.Spec.Version, m.Spec.CustomResourcePolicy = "1.0.0", v1beta2.CustomResourcePolicyCreateAndDelete
		m.Spec.Install = v1beta2.InstallInfo{Name: "raw-manifest", Source: runtime.RawExtension{Raw: []byte(`{"ref":"sha256:aa"}`)}}
		m.Spec.Resource = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}}}
		create(t, c, m)
	}
	got, err := ReadOutlook(t.Context(), c, release)
	if err != nil || len(got.Kymas) != 1 || len(got.Manifests) != 1 || len(got.Releases) != 1 || len(got.Unread) != 0 {
		t.Fatalf("%d Kymas, %d Manifests, %v: %v", len(got.Kymas), len(got.Manifests), got.Unread, err)
	}
	kept := &got.Kymas[0]
	if kept.Spec.Channel != "fast" || len(kept.Spec.Modules) != 1 || kept.Labels["ring"] != "canary" || kept.UID != kyma.UID {
		t.Errorf("the spec is not the effective one, or what selects the Kyma is gone: %+v", kept)
	}
	if len(kept.Status.Conditions) != 1 || kept.Status.LastSeen != nil || kept.Status.Modules[0].Version != "1.0.0" || kept.Status.Modules[0].Message != "" {
		t.Errorf("%+v", kept.Status)
	}
	if got.Manifests[0].Name != "demo-eventing" || got.Manifests[0].Spec.Resource == nil {
		t.Errorf("%+v", got.Manifests[0])
	}
}

// TestReadOutlook_APartIsNotAll: a part of a fleet must not be mistaken for all of it.
func TestReadOutlook_APartIsNotAll(t *testing.T) {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "eventing"}}
	g := &reading{reader: &paged{pages: [][]v1beta2.Kyma{{kyma("a")}, {kyma("b")}}, err: errors.New("gone")}}
	g.deciding(t.Context(), release)
	if len(g.in.Kymas) != 0 || g.fatal == nil {
		t.Errorf("%d Kymas, %v", len(g.in.Kymas), g.fatal)
	}
}
