package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestWhatAComponentHoldsBesideItsFirstInstallationReachesTheManifest(t *testing.T) {
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
	}
	want := v1beta2.ManifestSpec{
		AdditionalInstalls: component.Extras.Additional, Config: component.Extras.Config, CRDs: component.Extras.CRDs,
		AllowCRDChanges:  []v1beta2.CRDRule{"EnumNarrowed", "FieldRemoved", "TypeChanged"},
		CustomStateCheck: template.Spec.CustomStateCheck,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}
