package v1alpha1

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The files in testdata are those that the first README files show, word by word.

func TestSeeds_TheSeedKyma(t *testing.T) {
	from, to := read[Kyma](t, "kyma.yaml"), &v1beta2.Kyma{}
	if err := KymaToHub(from, to); err != nil {
		t.Fatal(err)
	}
	no, yes := false, true
	want := v1beta2.KymaSpec{
		Channel: "regular", Remote: &no, Readiness: v1beta2.ReadinessBoth,
		Modules: []v1beta2.Module{
			{Name: "istio", Managed: &yes, CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete},
			{Name: "serverless", Managed: &yes, CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete},
		},
	}
	if diff := cmp.Diff(want, to.Spec); diff != "" {
		t.Errorf("the spec differs (-want +got):\n%s", diff)
	}
	if to.Annotations != nil || to.Name != "kyma-sample" || to.APIVersion != "operator.kyma-project.io/v1beta2" {
		t.Errorf("metadata %+v of %s", to.ObjectMeta, to.APIVersion)
	}
	back := &Kyma{}
	if err := KymaFromHub(to, back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(from, back); diff != "" {
		t.Errorf("it does not come back as it was (-want +got):\n%s", diff)
	}
}

func TestSeeds_TheSeedManifest(t *testing.T) {
	from, to := read[Manifest](t, "manifest.yaml"), &v1beta2.Manifest{}
	if err := ManifestToHub(from, to); err != nil {
		t.Fatal(err)
	}
	if to.Annotations != nil {
		t.Errorf("annotations %v", to.Annotations)
	}
	const component = `"name":"kyma-project.io/module/example-module-name","ref":"sha256:c64f0580a74259712f24243528881a76b5e1c9cd254fa58197de93a6347f99b9"`
	want := v1beta2.ManifestSpec{
		Remote: true, CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete,
		Resource: from.Spec.Resource, CRDs: from.Spec.CRDs, Config: from.Spec.Config,
		Install: v1beta2.InstallInfo{Name: "redis", Source: runtime.RawExtension{
			Raw: []byte(`{` + component + `,"repo":"kcp-registry.localhost:8888/component-descriptors","type":"helm-chart"}`),
		}},
		AdditionalInstalls: []v1beta2.InstallInfo{{Name: "bitnami", Source: from.Spec.Installs[1].Source}},
	}
	if diff := cmp.Diff(want, to.Spec); diff != "" {
		t.Errorf("the spec differs (-want +got):\n%s", diff)
	}
	if stray := to.Spec.Resource.Object["resource"]; stray != "samplecrds" || to.Spec.CRDs.Type != v1beta2.RefTypeOCI {
		t.Errorf("the resource has %v, definitions are %s", stray, to.Spec.CRDs.Type)
	}
	back := &Manifest{}
	if err := ManifestFromHub(to, back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(from, back, sameJSON); diff != "" {
		t.Errorf("it does not come back as it was (-want +got):\n%s", diff)
	}
}

func read[T any](t *testing.T, name string) *T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := yaml.UnmarshalStrict(data, object); err != nil {
		t.Fatal(err)
	}
	return object
}
