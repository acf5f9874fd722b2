package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestExtras_WhatAComponentHoldsBesideItsFirstInstallationReachesTheManifest(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	key := ComponentKey{componentOfModule(operator), v1}
	component := newComponent(v1)
	component.Extras = Extras{
		Additional: []v1beta2.InstallInfo{{Name: "chart", Source: runtime.RawExtension{Raw: []byte(`{"type":"helm-chart"}`)}}},
		Config:     &v1beta2.ImageSpec{Ref: "config"},
		CRDs:       &v1beta2.ImageSpec{Ref: "crds"},
	}
	w.Components[key] = component
	template := newTemplate(operator, v1)
	template.Spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved", "TypeChanged"}
	template.Spec.CustomStateCheck = []v1beta2.CustomStateCheck{{JSONPath: "status.phase", Value: "Up", MappedState: v1beta2.StateReady}}
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: "Paper"}}
	w.Templates[template.Name] = template
	w.Kyma.Spec.Modules[0].AllowCRDChanges = []v1beta2.CRDRule{"EnumNarrowed", "FieldRemoved"}

	plan := MakePlan(w, Resolve(w))
	if len(plan.Apply) != 1 {
		t.Fatalf("%d Manifests are applied", len(plan.Apply))
	}
	spec := plan.Apply[0].Spec
	got := v1beta2.ManifestSpec{
		AdditionalInstalls: spec.AdditionalInstalls, Config: spec.Config, CRDs: spec.CRDs,
		AllowCRDChanges: spec.AllowCRDChanges, CustomStateCheck: spec.CustomStateCheck,
		AssociatedResources: spec.AssociatedResources,
	}
	want := v1beta2.ManifestSpec{
		AdditionalInstalls: component.Extras.Additional, Config: component.Extras.Config, CRDs: component.Extras.CRDs,
		AllowCRDChanges:  []v1beta2.CRDRule{"EnumNarrowed", "FieldRemoved", "TypeChanged"},
		CustomStateCheck: template.Spec.CustomStateCheck, AssociatedResources: template.Spec.AssociatedResources,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestWanted_NamesWhoInstalls(t *testing.T) {
	for name, test := range map[string]struct {
		kyma, template string
		mandatory      bool
		want           string
	}{
		"no account":                               {},
		"that of the template":                     {template: "author", want: "author"},
		"that of the Kyma":                         {kyma: "tenant", want: "tenant"},
		"the Kyma says for whom it is installed":   {kyma: "tenant", template: "author", want: "tenant"},
		"a mandatory module is not the Kyma's":     {kyma: "tenant", template: "author", mandatory: true, want: "author"},
		"nor is one whose template names no other": {kyma: "tenant", mandatory: true},
	} {
		t.Run(name, func(t *testing.T) {
			kyma, template := &v1beta2.Kyma{}, newTemplate(operator, v1)
			kyma.Spec.ServiceAccountName, template.Spec.ServiceAccountName = test.kyma, test.template
			if got := installingAccount(kyma, &Verdict{Template: template, Mandatory: test.mandatory}); got != test.want {
				t.Errorf("installed by %q, want %q", got, test.want)
			}
		})
	}
}

// Who may write Manifests must not get the operator's rights by taking the account away.
func TestPlan_PutsTheAccountBack(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	w.Kyma.Spec.ServiceAccountName = "tenant"
	w = carryOut(w, MakePlan(w, Resolve(w)))
	if plan := MakePlan(w, Resolve(w)); !plan.Empty() {
		t.Fatalf("it is not at rest: %+v", plan)
	}
	for _, other := range []string{"", "strong"} {
		w.Manifests[0].Spec.ServiceAccountName = other
		plan := MakePlan(w, Resolve(w))
		if len(plan.Apply) != 1 || plan.Apply[0].Spec.ServiceAccountName != "tenant" {
			t.Errorf("with %q nothing is put back: %+v", other, plan)
		}
	}
	w.Manifests[0].Spec.ServiceAccountName, w.Kyma.Spec.ServiceAccountName = "added", ""
	if plan := MakePlan(w, Resolve(w)); len(plan.Adjust) != 1 || !strings.Contains(string(plan.Adjust[0].Patch), `"serviceAccountName":null`) {
		t.Errorf("an account that is not asked for stays: %+v", plan)
	}
}

// A server-side apply leaves the entries of other field managers in these lists.
func TestExtras_WhatOthersAddToTheListsOfAManifestGoes(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	component := newComponent(v1)
	component.Extras.Additional = []v1beta2.InstallInfo{{Name: "chart", Source: runtime.RawExtension{Raw: []byte(`{"type":"helm-chart"}`)}}}
	w.Components[ComponentKey{componentOfModule(operator), v1}] = component
	w.Kyma.Spec.Modules[0].AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"}
	w = carryOut(w, MakePlan(w, Resolve(w)))
	manifest := &w.Manifests[0]
	manifest.Spec.AdditionalInstalls = append(manifest.Spec.AdditionalInstalls,
		v1beta2.InstallInfo{Name: "mine", Source: runtime.RawExtension{Raw: []byte(`{"image":"evil"}`)}})
	manifest.Spec.AllowCRDChanges = append(manifest.Spec.AllowCRDChanges, "ObjectInvalid")

	plan := MakePlan(w, Resolve(w))
	if len(plan.Apply) != 0 || len(plan.Adjust) != 1 {
		t.Fatalf("plan %+v", plan)
	}
	after := carryOut(w, plan)
	if spec := after.Manifests[0].Spec; len(spec.AdditionalInstalls) != 1 || len(spec.AllowCRDChanges) != 1 {
		t.Errorf("left: %+v", spec)
	}
	if again := MakePlan(after, Resolve(after)); !again.Empty() {
		t.Errorf("it is never enough: %+v", again)
	}
}
