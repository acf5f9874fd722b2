package installable_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const digest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func layer(name, kind string) descriptor.Resource {
	return descriptor.Resource{
		Name: name, Type: kind, Access: descriptor.Access{Type: "localBlob/v1", LocalReference: digest, MediaType: "application/x-yaml"},
	}
}

func TestOf_WritesWhatManifestsHold(t *testing.T) {
	component := &descriptor.Component{
		Name: "example.com/module/beacon", Version: "1.0.0", Repository: "registry.example.com/component-descriptors",
		RepositoryName: "example.com/module/beacon", Resources: []descriptor.Resource{
			layer("chart", descriptor.TypeHelmChart), layer("raw-manifest", "yaml"), layer("config", "yaml"), layer("crds", "yaml"),
			{Name: "image", Access: descriptor.Access{Type: "ociArtifact", ImageReference: "example.com/beacon:1.0.0"}},
		},
	}
	got, err := installable.Of(component)
	if err != nil {
		t.Fatal(err)
	}
	if got.Source.Ref != digest || got.Source.Repo != component.Repository || got.Source.Type != v1beta2.RefTypeOCI {
		t.Errorf("%+v", got.Source)
	}
	if len(got.Extras.Additional) != 1 || got.Extras.Additional[0].Name != "chart" || got.Extras.Config == nil || got.Extras.CRDs == nil {
		t.Errorf("%+v", got.Extras)
	}
	if len(got.LocalizedImages) != 1 {
		t.Errorf("%q", got.LocalizedImages)
	}
	if _, err := installable.Of(&descriptor.Component{Name: "x", Version: "1.0.0"}); err == nil {
		t.Error("a component without content can be installed")
	}
}

func TestReleaseName_IsThatOfTheModuleForItsFirstInstallation(t *testing.T) {
	for _, test := range [][3]string{
		{"beacon", "raw-manifest", "beacon"}, {"", "raw-manifest", "raw-manifest"}, {"beacon", "chart", "chart"},
		{"beacon", strings.Repeat("a", 52) + "-b", strings.Repeat("a", 52)},
	} {
		if got := installable.ReleaseName(test[0], test[1]); got != test[2] {
			t.Errorf("%q of %q: %q", test[1], test[0], got)
		}
	}
}

func TestConfigName_LetsTheLayerUseTheModulesName(t *testing.T) {
	for _, test := range []struct {
		named         []string
		install, want string
	}{
		{[]string{"beacon"}, "raw-manifest", "beacon"}, {[]string{"raw-manifest", "beacon"}, "raw-manifest", "raw-manifest"},
		{nil, "raw-manifest", "raw-manifest"}, {[]string{"beacon"}, "chart", "chart"},
	} {
		if got := installable.ConfigName(test.named, "beacon", test.install); got != test.want {
			t.Errorf("%v: %q", test, got)
		}
	}
}

func TestMarks_NameTheManifest(t *testing.T) {
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo-beacon"}}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	object.SetName("manager")
	object.SetNamespace("kyma-system")
	object.SetLabels(map[string]string{v1beta2.LabelComponent: "own"})
	marked := render.Mark([]*unstructured.Unstructured{object}, installable.Marks(manifest))[0]
	if marked.GetAnnotations()[v1beta2.AnnotationOwnedBy] != "kcp-system/demo-beacon" || marked.GetLabels()[v1beta2.LabelComponent] != "own" {
		t.Errorf("%v, %v", marked.GetAnnotations(), marked.GetLabels())
	}
	named := &v1beta2.Manager{GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "manager"}
	if id := installable.ManagerIn([]*unstructured.Unstructured{object}, named); id == nil || *id != inventory.IDOf(object) {
		t.Errorf("%v", id)
	}
	if id := installable.ManagerIn(nil, nil); id != nil {
		t.Errorf("%v", id)
	}
}
