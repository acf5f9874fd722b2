package directinstall_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// mint is a chart that generates a password, in a resource of that name.
func mint(version, resource string) component.Version {
	chart := testkit.Chart("mint", version, testkit.Files{"templates/admin.yaml": `
apiVersion: v1
kind: Secret
metadata: {name: mint-admin, namespace: kyma-system, annotations: {chart: "{{ .Chart.Version }}"}}
stringData: {password: "{{ randAlphaNum 24 }}"}
`})
	return component.Version{Name: "example.com/module/mint", Version: version, Resources: []component.Resource{{
		Name: resource, Data: chart.Tar(), MediaType: component.MediaTypeTar,
		Labels: map[string]string{descriptor.LabelRenderer: descriptor.FormatHelmChart},
	}}}
}

func (f *fixture) secret(name string) *unstructured.Unstructured {
	f.Helper()
	live := f.find("v1", "Secret", system, name)
	if live == nil {
		f.Fatalf("Secret %s does not exist", name)
	}
	return live
}

// password checks which version of the chart is there, and returns the password.
func (f *fixture) password(version string) any {
	f.Helper()
	live := f.secret("mint-admin")
	if got := live.GetAnnotations()["chart"]; got != version {
		f.Fatalf("version %q is there, want %q", got, version)
	}
	return live.Object["data"].(map[string]any)["password"]
}

// A chart that generates is installed and upgraded; when a Kyma has had the module in between, its values come with it.
func TestAdopt_GeneratedValuesComeAlong(t *testing.T) {
	f := onCluster(t)
	registry, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	f.must(err)
	t.Cleanup(func() { f.must(registry.Stop()) })
	f.installs(f.published(registry, mint("0.1.0", "raw-manifest"), "mint"))
	first := f.password("0.1.0")
	f.installs(f.published(registry, mint("0.2.0", "chart"), "mint"))
	if f.password("0.2.0") != first {
		t.Error("an upgrade made another password")
	}
	removal := f.removal("mint")
	removal.Keep = true
	f.deletes(removal)

	left := installable.GeneratedName(module.ManifestName("a-kyma-with-a-long-name-of-36-letters", "example.com/module/mint", "mint"))
	f.moveSecret("module-mint.generated", left)
	plan := f.published(registry, mint("0.3.0", "raw-manifest"), "mint")
	plan.Adopt = true
	report, err := directinstall.Install(t.Context(), plan)
	f.reason(report, err, "GeneratedValuesLost", "module-mint.generated") // a Manifest still has the Secret
	f.patch(f.secret(left), "metadata: {labels: {"+v1beta2.LabelManagedBy+": null}}")
	f.installs(plan)
	if f.password("0.3.0") != first {
		t.Error("what the Manifest has left is not taken over")
	}
	plan.Adopt = false
	if report := f.installs(plan); report.Changed {
		t.Errorf("the same again changes %+v", report.Objects)
	}
	f.deletes(f.removal("mint"))
	if f.find("v1", "Secret", system, left) != nil || f.find("v1", "Secret", system, "mint-admin") != nil {
		t.Error("a Secret is left")
	}
}

// moveSecret makes a Secret that of a Manifest.
func (f *fixture) moveSecret(from, to string) {
	f.Helper()
	moved := f.secret(from)
	f.must(f.other.Delete(f.Context(), moved.DeepCopy()))
	made := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": moved.Object["data"],
	}}
	made.SetNamespace(system)
	made.SetName(to)
	made.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	made.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/demo-mint"})
	f.must(f.other.Create(f.Context(), made))
}
