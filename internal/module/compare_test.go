package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const pre = `{"metadata":{`
const post = `"resourceVersion":"1","uid":"uid-kyma-sample-template-operator-2235966007"}`

func TestCompare_WhatTheAPIServerAndUsersMayDoToAManifest(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*v1beta2.Manifest)
		// the result: nothing, an apply, or a patch with this body
		apply bool
		patch string
	}{
		{name: "nothing", edit: func(*v1beta2.Manifest) {}},
		{name: "raw JSON in another format", edit: func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = runtime.RawExtension{Raw: []byte(`{ "type":"oci-ref","ref":"sha256:1.0.0","credSecretSelector":null,
				"name":"kyma-project.io/module/template-operator", "repo":"registry.local/component-descriptors" }`)}
		}},
		{name: "the default of the policy left out", edit: func(m *v1beta2.Manifest) { m.Spec.CustomResourcePolicy = "" }},
		{name: "a null, and an integer written as a float, in the default CR", edit: func(m *v1beta2.Manifest) {
			m.Spec.Resource.Object["metadata"].(map[string]any)["creationTimestamp"] = nil
			m.Spec.Resource.Object["spec"] = map[string]any{"size": 3.0}
		}},
		{name: "fields beside ours", edit: func(m *v1beta2.Manifest) {
			m.Spec.TargetNamespace, m.Spec.Ownership = "own", v1beta2.OwnershipPrevent
			m.Spec.Probes = []v1beta2.Probe{{Name: "up", Kind: "Pod", Expression: "true"}}
			m.Spec.Values = &runtime.RawExtension{Raw: []byte(`{"replicas":2}`)}
		}},
		{name: "labels, annotations, finalizers and owners beside ours", edit: func(m *v1beta2.Manifest) {
			m.Labels["team"], m.Annotations["note"] = "a", "b"
			m.Labels[v1beta2.LabelSkipReconciliation], m.Annotations["sync-oci-ref"] = "true", "sha256:x"
			m.Finalizers = append(m.Finalizers, "foreign")
			m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Kind: "Job", Name: "j", UID: "j"})
		}},
		{name: "a finalizer of ours removed", edit: func(m *v1beta2.Manifest) { m.Finalizers = nil }},
		{name: "another version", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Version = "0.1.0" }},
		{name: "another policy", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.CustomResourcePolicy = "Ignore" }},
		{name: "another place", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Remote = false }},
		{name: "another source", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Install.Source.Raw = newComponentSource("evil") }},
		{name: "a source that is not JSON", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Install.Source.Raw = []byte(`{`) }},
		{name: "another installation", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Install.Name = "other" }},
		{name: "another default CR", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Resource.SetName("other") }},
		{name: "no default CR", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Resource = nil }},
		{name: "no manager", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.Manager = nil }},
		{name: "other images", apply: true, edit: func(m *v1beta2.Manifest) { m.Spec.LocalizedImages = []string{"a", "b"} }},
		{name: "a config that the component does not have", patch: pre + post + `,"spec":{"config":null}}`,
			edit: func(m *v1beta2.Manifest) { m.Spec.Config = &v1beta2.ImageSpec{Repo: "r"} }},
		{name: "an installation that the component does not have", patch: pre + post + `,"spec":{"additionalInstalls":null}}`,
			edit: func(m *v1beta2.Manifest) {
				m.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: "more", Source: runtime.RawExtension{Raw: []byte(`{}`)}}}
			}},
		{name: "a CRD rule that was not allowed", patch: pre + post + `,"spec":{"allowCRDChanges":null}}`,
			edit: func(m *v1beta2.Manifest) { m.Spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} }},
		{name: "another label", apply: true, edit: func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelChannel] = "fast" }},
		{name: "no label", apply: true, edit: func(m *v1beta2.Manifest) { delete(m.Labels, v1beta2.LabelManagedBy) }},
		{name: "no annotation", apply: true, edit: func(m *v1beta2.Manifest) { m.Annotations = nil }},
		{name: "no owner", apply: true, edit: func(m *v1beta2.Manifest) { m.OwnerReferences = nil }},
		{name: "an owner that does not block", apply: true, edit: func(m *v1beta2.Manifest) { m.OwnerReferences[0].BlockOwnerDeletion = nil }},
		{name: "a label of ours that is not wanted", patch: pre + `"labels":{"operator.kyma-project.io/controller-name":null},` + post + `}`,
			edit: func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelControllerName] = "mine" }},
		{name: "an additional field in the default CR", patch: pre + post + `,"spec":{"resource":{"spec":{"more":null}}}}`,
			edit: func(m *v1beta2.Manifest) { m.Spec.Resource.Object["spec"].(map[string]any)["more"] = "x" }},
		{name: "an additional field in the source", patch: pre + post + `,"spec":{"install":{"source":{"more":null}}}}`,
			edit: func(m *v1beta2.Manifest) {
				raw := string(m.Spec.Install.Source.Raw)
				m.Spec.Install.Source.Raw = []byte(raw[:len(raw)-1] + `,"more":1}`)
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(installedAt("regular", v1), theManifest(test.edit))
			plan := MakePlan(w, Resolve(w))
			var patch string
			if len(plan.Adjust) == 1 {
				patch = string(plan.Adjust[0].Patch)
			}
			if diff := cmp.Diff(test.patch, patch); diff != "" || len(plan.Apply) == 1 != test.apply || len(plan.Delete) > 0 {
				t.Fatalf("applies %d, deletes %d, patch (-want +got):\n%s", len(plan.Apply), len(plan.Delete), diff)
			}
			after := carryOut(w, plan)
			if again := MakePlan(after, Resolve(after)); !again.Empty() {
				t.Errorf("it is never enough: %+v", again)
			}
		})
	}
}

func TestCompare_WhatATemplateNoLongerHasGoes(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.Manager, m.Spec.Data = nil, nil }),
		isComponent(v1, Component{Source: newSource(v1)}))
	plan := MakePlan(w, Resolve(w))
	const want = pre + post + `,"spec":{"localizedImages":null,"manager":null,"resource":null}}`
	if len(plan.Adjust) != 1 || string(plan.Adjust[0].Patch) != want {
		t.Fatalf("plan %+v", plan)
	}
	if state := Rollup(w, Resolve(w), nil).Modules[0].State; state != v1beta2.StateProcessing {
		t.Errorf("%s before the Manifest asks for what is wanted", state)
	}
	after := carryOut(w, plan)
	if manifest := after.Manifests[0]; manifest.Spec.Manager != nil || manifest.Spec.Resource != nil || manifest.Spec.LocalizedImages != nil {
		t.Errorf("left: %+v", manifest.Spec)
	}
	if again := MakePlan(after, Resolve(after)); !again.Empty() {
		t.Errorf("plan %+v", again)
	}
}

func TestCompare_AnApplyGoesBeforeAnAdjustment(t *testing.T) {
	// In one write the apply removes the fields that we set ourselves; only those of another field manager are left for an adjustment.
	w := sampleWorld(installedAt("regular", v1), ofChannel("fast"), theTemplate(v2, func(m *v1beta2.ModuleTemplate) { m.Spec.Manager = nil }))
	plan := MakePlan(w, Resolve(w))
	if len(plan.Apply) != 1 || len(plan.Adjust) != 0 {
		t.Errorf("plan %+v", plan)
	}
}

func TestRawJSONThatIsNoneIsApplied(t *testing.T) {
	good := sampleWorld(installedAt("regular", v1))
	bad := good.Manifests[0].DeepCopy()
	bad.Spec.Install.Source.Raw = []byte(`{`)
	for name, pair := range map[string][2]*v1beta2.Manifest{"there": {bad, &good.Manifests[0]}, "wanted": {&good.Manifests[0], bad}} {
		if d := compare(pair[0], pair[1]); !d.Spec || len(d.Extra) > 0 || d.none() || d.running() {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
