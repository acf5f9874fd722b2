package playground

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
	"github.com/kyma-project/lifecycle-manager/samples"
)

// installed lists what each sample installs, in its order, and the version that was chosen where there is a choice. Namespaces are those
// that the content names: a cluster would determine which objects need one.
var installed = map[string][]string{
	"oci-helm-chart":  {"ConfigMap harbour/lantern-light", "Deployment.apps harbour/lantern", "version 1.0.0"},
	"helm-repository": {"ConfigMap default/harbour-light-light", "Deployment.apps default/harbour-light", "version 1.1.0"},
	"crds-config-resource": {
		"CustomResourceDefinition.apiextensions.k8s.io samplecrds.operator.kyma-project.io", "ConfigMap default/lighthouse-light",
		"Deployment.apps default/lighthouse", "ConfigMap default/almanac", "version 1.0.0",
	},
	"kustomize": {"ConfigMap demo-directions-", "Deployment.apps demo-weathervane"},
	"plain-bundle": {
		"Namespace buoys", "CustomResourceDefinition.apiextensions.k8s.io buoys.samples.kyma-project.io",
		"Buoy.samples.kyma-project.io buoys/north", "Buoy.samples.kyma-project.io buoys/south", "ConfigMap buoys/signal",
	},
	"plain-bundle-configmaps": {"Namespace tides", "ConfigMap tide-table"},
	"plain-bundle-http":       {"Service signpost", "ConfigMap signpost"},
}

func TestSAMPLES_EverySampleManifestCanBeInstalled(t *testing.T) {
	s := newShelf(t)
	for _, sample := range sampleManifests {
		t.Run(sample.name, func(t *testing.T) {
			manifest, files := parsed(t, sample, s.names)
			reader := newSampleReader(t, s, files)
			if diff := cmp.Diff(installed[sample.name], withoutHashes(reader.everything(manifest))); diff != "" {
				t.Errorf("what it installs differs (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutHashes cuts the suffix that kustomize appends to the names of generated objects.
func withoutHashes(ids []string) []string {
	for i, id := range ids {
		if at := strings.Index(id, "demo-directions-"); at >= 0 {
			ids[i] = id[:at+len("demo-directions-")]
		}
	}
	return ids
}

func TestSAMPLES_AModuleThatIsAChart(t *testing.T) {
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

func TestSAMPLES_EveryFileOfTheSamplesIsUsed(t *testing.T) {
	entries, err := fs.ReadDir(samples.Manifests, "manifests")
	if err != nil {
		t.Fatal(err)
	}
	var found, listed []string
	for _, entry := range entries {
		found = append(found, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	for _, s := range allSamples() {
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
	if err == nil || err.Error() != "samples/manifests/oci-helm-chart.yaml has placeholders without a value: OCI_HELM_CHART_CONFIG" {
		t.Errorf("filled() returned %v", err)
	}
}

// newShelf starts a registry and a web server and fills them.
func newShelf(t *testing.T) *publisher {
	t.Helper()
	ctx := context.Background()
	registry, err := localcluster.StartRegistry(ctx, localcluster.RegistryOptions{})
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
	s := &publisher{registry: registry.Host, web: web.host}
	if err := s.fill(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// parsed returns a sample as the API server would accept it with strict validation, with the files in its ConfigMaps.
func parsed(t *testing.T, s sample, names map[string]string) (*v1beta2.Manifest, []content.File) {
	t.Helper()
	data, err := s.filled(names)
	if err != nil {
		t.Fatal(err)
	}
	var manifest *v1beta2.Manifest
	var files []content.File
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		kind, configMap := metav1.TypeMeta{}, &corev1.ConfigMap{}
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind == "ConfigMap" {
			err = yaml.UnmarshalStrict([]byte(document), configMap)
		} else {
			manifest = &v1beta2.Manifest{}
			err = yaml.UnmarshalStrict([]byte(document), manifest)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range configMap.Data {
			files = append(files, content.File{Path: "manifests/" + name, Data: []byte(text)})
		}
	}
	if manifest == nil || manifest.Name != s.name || manifest.Namespace != v1beta2.DefaultNamespace {
		t.Fatalf("the Manifest in %s.yaml is %+v", s.name, manifest)
	}
	return manifest, files
}

// sampleReader calls the libraries as the manager does before it calls a cluster.
type sampleReader struct {
	t     *testing.T
	oci   *content.OCI
	files []content.File // of the ConfigMaps
}

func newSampleReader(t *testing.T, s *publisher, files []content.File) *sampleReader {
	policy := func(host string) content.HostPolicy { return content.HostPolicy{PlainHTTP: host == s.registry} }
	return &sampleReader{t, &content.OCI{
		Store: &content.Store{Dir: t.TempDir()}, Registries: content.Registries{Policy: policy},
	}, files}
}

// everything renders definitions and installations in order.
func (r *sampleReader) everything(m *v1beta2.Manifest) []string {
	r.t.Helper()
	config, err := helm.ParseConfig(nil)
	if m.Spec.Config != nil {
		tree, _ := r.fetch(imageSpec(*m.Spec.Config))
		config, err = helm.ParseConfig(tree.Files[0].Data)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	var found []string
	if m.Spec.CRDs != nil {
		found = r.render(imageSpec(*m.Spec.CRDs), render.Input{})
	}
	for _, install := range append([]v1beta2.InstallInfo{m.Spec.Install}, m.Spec.AdditionalInstalls...) {
		var source sampleSource
		if err := yaml.UnmarshalStrict(install.Source.Raw, &source); err != nil {
			r.t.Fatal(err)
		}
		input := render.Input{Path: source.Path}
		if source.Type == v1beta2.RefTypeHelmChart {
			input = r.input(m, install.Name, config)
		}
		found = append(found, r.render(source, input)...)
	}
	return found
}

func (r *sampleReader) input(m *v1beta2.Manifest, install string, config helm.Config) render.Input {
	r.t.Helper()
	own, err := config.For(install)
	if err != nil {
		r.t.Fatal(err)
	}
	input := render.Input{Name: install, Namespace: stdcmp.Or(own.Namespace, m.Spec.TargetNamespace, "default"), Values: own.Values}
	if m.Spec.Values != nil {
		if input.Values, err = helm.Values(m.Spec.Values.Raw); err != nil {
			r.t.Fatal(err)
		}
	}
	return input
}

func (r *sampleReader) render(source sampleSource, input render.Input) []string {
	r.t.Helper()
	tree, version := r.fetch(source)
	rendered, err := formats.Builtin()[string(source.Type)].Render(context.Background(), tree, input)
	if err != nil {
		r.t.Fatal(err)
	}
	var found []string
	for _, step := range rendered.Steps {
		found = append(found, ids(step)...)
	}
	if version != "" {
		found = append(found, "version "+version)
	}
	return found
}

func (r *sampleReader) fetch(spec sampleSource) (tree *content.Tree, version string) {
	r.t.Helper()
	source := r.open(spec)
	resolved, err := source.Resolve(context.Background())
	if err == nil {
		tree, err = source.Fetch(context.Background(), resolved)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return tree, resolved.Version
}

// sampleSource has the fields that the samples use.
type sampleSource struct {
	v1beta2.ImageSpec `json:",inline"`

	Path, Image, URL, ChartName, Version string

	HTTP *struct{ URL, SHA256 string }

	ConfigMaps []struct{ Name, Path string }
}

func imageSpec(spec v1beta2.ImageSpec) sampleSource { return sampleSource{ImageSpec: spec} }

func (r *sampleReader) open(spec sampleSource) content.Source {
	r.t.Helper()
	repository, oci := strings.CutPrefix(spec.URL, "oci://")
	switch {
	case oci:
		return &content.ChartSource{OCI: r.oci, Repository: repository + "/" + spec.ChartName, Version: spec.Version}
	case spec.URL != "":
		return &content.HelmRepositorySource{
			Store: r.oci.Store, URL: spec.URL, Chart: spec.ChartName, Version: spec.Version, AllowPlain: true,
		}
	case spec.Image != "":
		return &content.ImageSource{OCI: r.oci, Image: spec.Image}
	case spec.HTTP != nil:
		return &content.HTTPSource{Store: r.oci.Store, URL: spec.HTTP.URL, SHA256: spec.HTTP.SHA256, AllowPlain: true}
	case len(spec.ConfigMaps) > 0:
		return content.StaticSource(r.oci.Store, "ConfigMaps", r.files)
	}
	reference, _, err := content.ParseReference(spec.Repo, spec.Name, spec.Ref)
	if err != nil {
		r.t.Fatal(err)
	}
	return &content.LayerSource{OCI: r.oci, Ref: reference, Archive: spec.Type != v1beta2.RefTypeOCI}
}
