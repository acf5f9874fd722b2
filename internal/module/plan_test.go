package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// planned returns the only Manifest of the plan for a Snapshot, which must be applied.
func planned(t *testing.T, w Snapshot) *v1beta2.Manifest {
	t.Helper()
	plan := MakePlan(w, Resolve(w))
	if len(plan.Apply) != 1 || len(plan.Adjust)+len(plan.Delete) > 0 {
		t.Fatalf("plan %+v, want one Manifest applied", plan)
	}
	return plan.Apply[0]
}

func TestPlan_ANewManifestIsComplete(t *testing.T) {
	yes := true
	want := &v1beta2.Manifest{
		TypeMeta: metav1.TypeMeta{APIVersion: "operator.kyma-project.io/v1beta2", Kind: "Manifest"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "kyma-sample-template-operator-2235966007", Namespace: namespace,
			Labels: map[string]string{
				"operator.kyma-project.io/kyma-name": sample, "operator.kyma-project.io/module-name": operator,
				"operator.kyma-project.io/channel": "regular", "operator.kyma-project.io/managed-by": "lifecycle-manager",
				"operator.kyma-project.io/controller-name": "manifest",
			},
			Annotations: map[string]string{
				"operator.kyma-project.io/ocm-component-name": component, "operator.kyma-project.io/fqdn": component,
			},
			Finalizers: []string{"declarative.kyma-project.io/finalizer", "label-removal-finalizer"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "operator.kyma-project.io/v1beta2", Kind: "Kyma", Name: sample,
				UID: "kyma-uid", Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: v1beta2.ManifestSpec{
			Remote: true, CustomResourcePolicy: "CreateAndDelete", Version: v1,
			Install: v1beta2.InstallInfo{Name: "raw-manifest", Source: runtime.RawExtension{Raw: []byte(
				`{"name":"` + component + `","ref":"sha256:1.0.0","repo":"registry.local/component-descriptors","type":"oci-ref"}`)}},
			LocalizedImages: []string{"registry.local/operator:1.0.0"},
			Manager: &v1beta2.Manager{Name: operator, Namespace: "kyma-system",
				GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}},
			Resource: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "operator.kyma-project.io/v1alpha1", "kind": "Sample",
				"metadata": map[string]any{"name": "sample", "namespace": "kyma-system"}, "spec": map[string]any{"size": int64(3)},
			}},
		},
	}
	w := sampleWorld(theTemplate(v1, func(m *v1beta2.ModuleTemplate) {
		m.Labels = map[string]string{v1beta2.LabelControllerName: "manifest"}
	}))
	if diff := cmp.Diff(want, planned(t, w)); diff != "" {
		t.Errorf("Manifest (-want +got):\n%s", diff)
	}
}

func TestPlan_WhatTheSpecSaysReachesTheManifest(t *testing.T) {
	no := false
	local := sampleWorld(func(w *Snapshot) { w.Kyma.Spec.Remote = &no })
	if planned(t, local).Spec.Remote {
		t.Error("a local Kyma's Manifest is remote")
	}
	ignoring := planned(t, sampleWorld(theModule(func(m *v1beta2.Module) { m.CustomResourcePolicy = v1beta2.CustomResourcePolicyIgnore })))
	if ignoring.Spec.CustomResourcePolicy != "Ignore" || ignoring.Spec.Resource == nil { // its kind blocks the removal
		t.Errorf("policy %s, resource %v", ignoring.Spec.CustomResourcePolicy, ignoring.Spec.Resource)
	}
	if label, set := planned(t, sampleWorld(pinned(v2))).Labels[v1beta2.LabelChannel]; set {
		t.Errorf("a pinned version has channel %q", label)
	}
}

func TestPlan_TheDefaultResource(t *testing.T) {
	const manifest = "kyma-sample-template-operator-2235966007"
	clusterScoped := func(m *v1beta2.ModuleTemplate) {
		m.Annotations = map[string]string{v1beta2.AnnotationIsClusterScoped: "true"}
	}
	for _, test := range []struct {
		name string
		edit func(*v1beta2.ModuleTemplate)
		want string // namespace/name, empty for none
	}{
		{"in the runtime's namespace unless it names another", func(*v1beta2.ModuleTemplate) {}, "kyma-system/sample"},
		{"in its own namespace", func(m *v1beta2.ModuleTemplate) { m.Spec.Data.SetNamespace("own") }, "own/sample"},
		{"named like the Manifest when it has no name", func(m *v1beta2.ModuleTemplate) { m.Spec.Data.SetName("") }, "kyma-system/" + manifest},
		{"without namespace when it is cluster-scoped", clusterScoped, "/sample"},
		{"without the namespace that it names when it is cluster-scoped", func(m *v1beta2.ModuleTemplate) {
			clusterScoped(m)
			m.Spec.Data.SetNamespace("own")
		}, "/sample"},
		{"none", func(m *v1beta2.ModuleTemplate) { m.Spec.Data = nil }, ""},
		{"none when it is empty", func(m *v1beta2.ModuleTemplate) { m.Spec.Data.Object = nil }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(theTemplate(v1, test.edit))
			var got string
			if resource := planned(t, w).Spec.Resource; resource != nil {
				got = resource.GetNamespace() + "/" + resource.GetName()
			}
			var told string
			if resource := Rollup(w, Resolve(w), nil).Modules[0].Resource; resource != nil {
				told = resource.Namespace + "/" + resource.Name
			}
			if got != test.want || told != test.want {
				t.Errorf("resource %q, in the status %q, want %q", got, told, test.want)
			}
		})
	}
}

func TestPlan_AnExistingManifestIsAppliedAsItWasSeen(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), ofChannel("fast"), theManifest(func(m *v1beta2.Manifest) {
		m.ResourceVersion, m.Finalizers = "41", []string{"foreign", v1beta2.FinalizerManifest}
	}))
	got := planned(t, w)
	if got.UID != w.Manifests[0].UID || got.ResourceVersion != "41" {
		t.Errorf("UID %q, resourceVersion %q", got.UID, got.ResourceVersion)
	}
	// Naming a finalizer that is gone would bring it back; not naming one that is left would remove it.
	if diff := cmp.Diff([]string{v1beta2.FinalizerManifest}, got.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}

func TestPlan_AnExistingManifestKeepsItsName(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), theRelease(func(r *v1beta2.ModuleReleaseMeta) {
		r.Spec.OCMComponentName = "kyma-project.io/module/renamed"
	}), func(w *Snapshot) { w.Components[ComponentKey{"kyma-project.io/module/renamed", v1}] = newComponent(v1) })
	got := planned(t, w)
	if got.Name != w.Manifests[0].Name || got.Annotations[v1beta2.AnnotationFQDN] != "kyma-project.io/module/renamed" {
		t.Errorf("name %s, fqdn %s", got.Name, got.Annotations[v1beta2.AnnotationFQDN])
	}
}

func TestSurplusManifestsGoOnceTheModuleIsReady(t *testing.T) {
	former := withManifest(func(m *v1beta2.Manifest) { m.Name = "former"; m.Labels = nil; m.Labels = map[string]string{"a": "b"} })
	named := theEntry(func(e *v1beta2.ModuleStatus) {
		e.Manifest = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Name: "former"}}
	})
	w := sampleWorld(installedAt("regular", v1), named, former, theManifest(func(m *v1beta2.Manifest) { m.Status.State = "Processing" }))
	if plan := MakePlan(w, Resolve(w)); len(plan.Delete) != 0 {
		t.Errorf("deleted before the other is ready: %+v", plan.Delete)
	}
	makeReady(&w.Manifests[0])
	plan := MakePlan(w, Resolve(w))
	if len(plan.Delete) != 1 || plan.Delete[0].Name != "former" || plan.Delete[0].Labels[v1beta2.LabelModuleName] != operator {
		t.Errorf("plan %+v", plan)
	}
	ofChannel("none")(&w)
	if plan := MakePlan(w, Resolve(w)); len(plan.Delete) != 0 {
		t.Errorf("a refusal deletes: %+v", plan.Delete)
	}
}

func TestPlan_ADeletionNamesItsModule(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), disabled, theEntry(func(e *v1beta2.ModuleStatus) {
		e.Manifest = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Name: "kyma-sample-template-operator-2235966007"}}
	}), theManifest(func(m *v1beta2.Manifest) { m.Labels = nil }))
	plan := MakePlan(w, Resolve(w))
	if len(plan.Delete) != 1 || plan.Delete[0].Labels[v1beta2.LabelModuleName] != operator || plan.Delete[0].UID != w.Manifests[0].UID {
		t.Errorf("plan %+v", plan)
	}
	if w.Manifests[0].Labels != nil {
		t.Error("the World was changed")
	}
}
