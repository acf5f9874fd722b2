package playground

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1alpha1"
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// replaced maps the placeholders of the samples for hosts, digests and chart addresses to the values in the first README files.
var replaced = strings.NewReplacer(
	"${REGISTRY}", "kcp-registry.localhost:8888", "${HELM_REPOSITORY}", "https://charts.bitnami.com/bitnami",
	"${OLD_CRDS_LAYER}", "sha256:71cf4f1fee1a2f51296cc805aa9b24bc14fd5c2b4aee1e24aadc2996b067bb3d",
	"${OLD_CONFIG_LAYER}", "sha256:61be4f1fee1a2f51296cc805aa9b24bc14fd5c2b4aee1e24aadc2996b067ccec",
	"${OLD_CHART_LAYER}", "sha256:c64f0580a74259712f24243528881a76b5e1c9cd254fa58197de93a6347f99b9",
)

func TestOldSamples_TheOldSamplesAreThoseOfTheFirstReadme(t *testing.T) {
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	for file, original := range map[string]string{"v1alpha1-kyma": "kyma.yaml", "v1alpha1-manifest": "manifest.yaml"} {
		got, err := os.ReadFile(filepath.Join(root, "samples", "manifests", file+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(root, "api", "v1alpha1", "testdata", original))
		if err != nil {
			t.Fatal(err)
		}
		if _, body, _ := strings.Cut(string(got), "\napiVersion"); cmp.Diff(string(want), "apiVersion"+replaced.Replace(body)) != "" {
			t.Errorf("%s differs:\n%s", file, cmp.Diff(string(want), "apiVersion"+replaced.Replace(body)))
		}
	}
}

func TestOldSamples_TheOldKymaAsksForModulesThatThereAre(t *testing.T) {
	data, err := oldSamples[0].filled(nil)
	if err != nil {
		t.Fatal(err)
	}
	kyma := &v1alpha1.Kyma{}
	if err := yaml.UnmarshalStrict(data, kyma); err != nil {
		t.Fatal(err)
	}
	for _, component := range kyma.Spec.Components {
		if m := known(component.Name); m.chart == "" {
			t.Errorf("component %s is no chart", m.name)
		}
	}
}

func TestOldSamples_TheOldManifestCanBeInstalled(t *testing.T) {
	s := newShelf(t)
	data, err := oldSamples[1].filled(s.names)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("${")) {
		t.Errorf("something is not filled in:\n%s", data)
	}
	old, manifest := &v1alpha1.Manifest{}, &v1beta2.Manifest{}
	if err := yaml.UnmarshalStrict(data, old); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha1.ManifestToHub(old, manifest); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CustomResourceDefinition.apiextensions.k8s.io samplecrds.operator.kyma-project.io",
		"Deployment.apps default/redis-redis", "Service default/redis-redis",
		"Deployment.apps default/bitnami-mysql", "Service default/bitnami-mysql", "version 1.0.0",
	}
	if diff := cmp.Diff(want, newSampleReader(t, s, nil).everything(manifest)); diff != "" {
		t.Errorf("what it installs differs (-want +got):\n%s", diff)
	}
	if manifest.Labels[v1beta2.LabelKymaName] != oldKyma || manifest.Namespace != "default" {
		t.Errorf("no one has access for %s in %s", manifest.Labels[v1beta2.LabelKymaName], manifest.Namespace)
	}
}
