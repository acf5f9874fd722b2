package playground

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/artifact"
	"github.com/kyma-project/lifecycle-manager/internal/provision"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/samples"
)

// wanted is what each sample installs, in its order, and the version that was chosen where there is a choice.
var wanted = map[string][]string{
	"oci-helm-chart":       {"ConfigMap harbour/lantern-light", "Deployment.apps harbour/lantern", "version 1.0.0"},
	"helm-repository":      {"ConfigMap default/harbour-light-light", "Deployment.apps default/harbour-light", "version 1.1.0"},
	"crds-config-resource": {"CustomResourceDefinition.apiextensions.k8s.io samplecrds.operator.kyma-project.io", "ConfigMap default/lighthouse-light", "Deployment.apps default/lighthouse", "ConfigMap default/almanac", "version 1.0.0"},
	"kustomize":            {"ConfigMap demo-directions-", "Deployment.apps demo-weathervane"},
	"plain-bundle": {
		"Namespace buoys", "CustomResourceDefinition.apiextensions.k8s.io buoys.samples.kyma-project.io",
		"Buoy.samples.kyma-project.io buoys/north", "Buoy.samples.kyma-project.io buoys/south", "ConfigMap buoys/signal",
	},
	"plain-bundle-configmaps": {"Namespace tides", "ConfigMap tide-table"},
	"plain-bundle-http":       {"Service signpost", "ConfigMap signpost"},
}

func TestEverySampleManifestCanBeInstalled(t *testing.T) {
	s := newShelf(t)
	for _, sample := range sampleManifests {
		t.Run(sample.name, func(t *testing.T) {
			manifest, configMaps := parsed(t, sample, s.names)
			var got []string
			for _, part := range read(t, s, manifest, configMaps...) {
				for _, step := range part.Rendered.Steps {
					got = append(got, ids(step)...)
				}
				if part.Source.Version != "" {
					got = append(got, "version "+part.Source.Version)
				}
			}
			if diff := cmp.Diff(wanted[sample.name], withoutHashes(got)); diff != "" {
				t.Errorf("what it installs differs (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutHashes cuts what kustomize appends to the names of generated objects.
func withoutHashes(ids []string) []string {
	for i, id := range ids {
		if at := strings.Index(id, "demo-directions-"); at >= 0 {
			ids[i] = id[:at+len("demo-directions-")]
		}
	}
	return ids
}

func TestAModuleThatIsAChart(t *testing.T) {
	s := newShelf(t)
	for version, colour := range map[string]string{older: "red", newer: "green"} {
		publication, err := known(moduleCharted).publication(version)
		if err != nil {
			t.Fatal(err)
		}
		chart, config := publication.Resources[0], publication.Resources[1]
		if chart.Type != "helmChart" || chart.Name != chartLantern || config.Name != "config" {
			t.Errorf("%s has resources %s of type %s and %s", version, chart.Name, chart.Type, config.Name)
		}
		packed := filepath.Join(t.TempDir(), "chart.tgz")
		if err := os.WriteFile(packed, chart.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		tree, err := content.Unpack(packed, content.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		description, _ := tree.File("lantern/Chart.yaml")
		if !bytes.Contains(description, []byte("\nversion: "+version+"\n")) || !bytes.Contains(config.Data, []byte("colour="+colour)) {
			t.Errorf("%s has the chart\n%s\nand the values\n%s", version, description, config.Data)
		}
	}
	if s.names["SAMPLE_COMPONENT"] == known(moduleCharted).component() {
		t.Error("the sample Manifest and the module share a component")
	}
}

func TestEveryFileOfTheSamplesIsUsed(t *testing.T) {
	entries, err := fs.ReadDir(samples.Manifests, "manifests")
	if err != nil {
		t.Fatal(err)
	}
	var found, listed []string
	for _, entry := range entries {
		found = append(found, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	for _, s := range sampleManifests {
		listed = append(listed, s.name)
	}
	if diff := cmp.Diff(found, listed, cmp.Transformer("set", func(all []string) map[string]bool {
		set := map[string]bool{}
		for _, one := range all {
			set[one] = true
		}
		return set
	})); diff != "" {
		t.Errorf("files in samples/manifests and samples of the playground differ (-files +samples):\n%s", diff)
	}
}

func TestPackedContentIsTheSameEachTime(t *testing.T) {
	first, err := packChart(chartLantern, older)
	if err != nil {
		t.Fatal(err)
	}
	again, err := packChart(chartLantern, older)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("packing twice gives %s and %s, %v", digestOf(first), digestOf(again), err)
	}
	if _, err := packChart("none", older); err == nil || !strings.Contains(err.Error(), "content/charts/none") {
		t.Errorf("packing a chart that does not exist returned %v", err)
	}
}

func TestSampleWithANameThatNobodyKnows(t *testing.T) {
	_, err := sampleManifests[0].filled(map[string]string{"REGISTRY": "here"})
	if err == nil || err.Error() != "samples/manifests/oci-helm-chart.yaml asks for names that nobody fills in: OCI_HELM_CHART_CONFIG" {
		t.Errorf("filled() returned %v", err)
	}
}

// newShelf starts a registry and a web server and fills them.
func newShelf(t *testing.T) *shelf {
	t.Helper()
	ctx := context.Background()
	registry, err := provision.StartRegistry(ctx, provision.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := webFiles()
	if err != nil {
		t.Fatal(err)
	}
	web, err := startWeb(ctx, files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(registry.Stop(), web.stop()); err != nil {
			t.Error(err)
		}
	})
	s := &shelf{registry: registry.Host, web: web.host}
	if err := s.fill(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// parsed is a sample as the API server would take it with strict validation, with the ConfigMaps that come with it.
func parsed(t *testing.T, s sample, names map[string]string) (*v1beta2.Manifest, []runtime.Object) {
	t.Helper()
	data, err := s.filled(names)
	if err != nil {
		t.Fatal(err)
	}
	var manifest *v1beta2.Manifest
	var configMaps []runtime.Object
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		kind := metav1.TypeMeta{}
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind == "ConfigMap" {
			configMap := &corev1.ConfigMap{}
			if err := yaml.UnmarshalStrict([]byte(document), configMap); err != nil {
				t.Fatal(err)
			}
			configMaps = append(configMaps, configMap)
			continue
		}
		manifest = &v1beta2.Manifest{}
		if err := yaml.UnmarshalStrict([]byte(document), manifest); err != nil {
			t.Fatal(err)
		}
	}
	if manifest == nil || manifest.Name != s.name || manifest.Namespace != v1beta2.DefaultNamespace {
		t.Fatalf("the Manifest in %s.yaml is %+v", s.name, manifest)
	}
	return manifest, configMaps
}

// read does what the manager does before it asks a cluster.
func read(t *testing.T, s *shelf, manifest *v1beta2.Manifest, configMaps ...runtime.Object) []artifact.Part {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithRuntimeObjects(configMaps...).Build()
	policy := func(host string) content.HostPolicy {
		return content.HostPolicy{PlainHTTP: host == s.registry || host == s.web}
	}
	fetch := &content.OCI{Store: &content.Store{Dir: t.TempDir()}, Registries: content.Registries{Policy: policy}}
	contents := artifact.NewContents(fetch, reader)
	contents.Policy = policy
	deadline := time.Now().Add(time.Minute)
	for {
		parts, err := contents.Read(context.Background(), manifest, func(context.Context) (artifact.Capabilities, error) {
			return artifact.Capabilities{KubeVersion: "v1.35.0"}, nil
		})
		if err == nil {
			return parts
		}
		if !errors.Is(err, artifact.ErrPending) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
