package playground

import (
	"context"
	"fmt"
	"io/fs"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/samples"
)

const (
	// The media types that "helm push" gives a chart and its description.
	mediaTypeChart       = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	mediaTypeChartConfig = "application/vnd.cncf.helm.config.v1+json"
	// mediaTypeSample is the media type of the description of content that is neither a chart nor an image.
	mediaTypeSample = "application/vnd.kyma-project.samples.config.v1+json"
	// typeHelmChart is the type of a component's resource that is a chart.
	typeHelmChart = "helmChart"

	chartLantern, chartAlmanac = "lantern", "almanac"
	chartMySQL, chartRedis     = "mysql", "redis"
	// sampleComponent is a component version that no module offers: a sample Manifest names its layers.
	sampleComponent = provider + "/samples/lighthouse"
	// oldComponent is the one that the sample Manifest of v1alpha1 names.
	oldComponent = provider + "/module/example-module-name"
	// manifestTime is the creation time of all manifests of sample content, so that they are reproducible.
	manifestTime = "2026-01-01T00:00:00Z"
)

// charts are published in a Helm repository and in the registry.
var charts = []struct {
	name     string
	versions []string
}{
	{chartLantern, []string{older, newer, "2.0.0"}},
	{chartAlmanac, []string{older}},
	{chartMySQL, []string{older}},
	{chartRedis, []string{older}},
}

// parcel is content that is pushed into the registry as one layer with a manifest.
type parcel struct {
	repository, tag       string
	config                string // media type
	mediaType             string // of the layer
	description, contents []byte
}

// publisher publishes the content of the sample Manifests, and holds the values that they need.
type publisher struct {
	registry string // host
	web      string // host
	// names are the values of ${NAME} in the samples.
	names map[string]string
}

// fill publishes everything into the registry.
func (s *publisher) fill(ctx context.Context) error {
	s.names = map[string]string{
		"REGISTRY":         s.registry,
		"HELM_REPOSITORY":  "http://" + s.web + helmFolder,
		"BUNDLE_URL":       "http://" + s.web + bundleFile,
		"SAMPLE_COMPONENT": sampleComponent,
	}
	for _, publish := range []func(context.Context) error{
		s.pushCharts, s.pushConfig, s.pushKustomization, s.pushBundles, s.pushComponent, s.pushOldComponent,
	} {
		if err := publish(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *publisher) pushCharts(ctx context.Context) error {
	for _, c := range charts {
		for _, version := range c.versions {
			packed, err := packChart(c.name, version)
			if err != nil {
				return err
			}
			description := fmt.Appendf(nil, `{"apiVersion":"v2","name":%q,"version":%q}`, c.name, version)
			if err := s.push(ctx, parcel{"charts/" + c.name, version, mediaTypeChartConfig, mediaTypeChart, description, packed}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *publisher) pushConfig(ctx context.Context) error {
	data, err := layer("oci-helm-chart.config.yaml")
	if err != nil {
		return err
	}
	s.names["OCI_HELM_CHART_CONFIG"] = digestOf(data)
	return s.push(ctx, parcel{"configs/oci-helm-chart", older, mediaTypeSample, component.MediaTypeYAML, []byte("{}"), data})
}

func (s *publisher) pushKustomization(ctx context.Context) error {
	packed, err := packFolder(kustomizationsFolder + "/weathervane")
	if err != nil {
		return err
	}
	s.names["KUSTOMIZATION_LAYER"] = digestOf(packed)
	return s.push(ctx, parcel{
		"kustomizations/weathervane", older, mediaTypeSample, ocispec.MediaTypeImageLayerGzip, []byte("{}"), packed,
	})
}

// pushBundles pushes an image of one bundle; the web server has the other.
func (s *publisher) pushBundles(ctx context.Context) error {
	served, err := packFolder(bundlesFolder + "/signpost")
	if err != nil {
		return err
	}
	s.names["BUNDLE_SHA256"] = hexDigest(served)
	packed, err := packFolder(bundlesFolder + "/buoy")
	if err != nil {
		return err
	}
	return s.push(ctx, parcel{
		"bundles/buoy", older, ocispec.MediaTypeImageConfig, ocispec.MediaTypeImageLayerGzip,
		[]byte(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`), packed,
	})
}

// pushComponent publishes three layers that one sample Manifest names.
func (s *publisher) pushComponent(ctx context.Context) error {
	return s.pushLayers(ctx, sampleComponent, chartLantern, "crds-config-resource.config.yaml", "")
}

// pushOldComponent does the same for the Manifest of v1alpha1, with the same definitions.
func (s *publisher) pushOldComponent(ctx context.Context) error {
	return s.pushLayers(ctx, oldComponent, chartRedis, "v1alpha1-manifest.config.yaml", "OLD_")
}

// pushLayers publishes a chart, its values and definitions as a component; prefix is that of their digests' names.
func (s *publisher) pushLayers(ctx context.Context, name, chartName, configName, prefix string) error {
	chart, err := packChart(chartName, older)
	if err != nil {
		return err
	}
	config, err := layer(configName)
	if err != nil {
		return err
	}
	crds, err := layer("crds-config-resource.crds.yaml")
	if err != nil {
		return err
	}
	s.names[prefix+"CHART_LAYER"], s.names[prefix+"CONFIG_LAYER"] = digestOf(chart), digestOf(config)
	s.names[prefix+"CRDS_LAYER"] = digestOf(crds)
	_, err = component.Push(ctx, component.Registry{Host: s.registry, PlainHTTP: true}, component.Version{
		Name: name, Version: older, Provider: provider, Resources: []component.Resource{
			{Name: chartName, Type: typeHelmChart, MediaType: mediaTypeChart, Data: chart},
			{Name: configResource, Data: config}, {Name: "crds", Data: crds},
		},
	})
	return err
}

// push uploads description, layer and manifest, and tags the manifest.
func (s *publisher) push(ctx context.Context, p parcel) error {
	name := s.registry + "/" + p.repository
	repository, err := remote.NewRepository(name)
	if err != nil {
		return err
	}
	repository.PlainHTTP = true
	config, err := oras.PushBytes(ctx, repository, p.config, p.description)
	if err != nil {
		return fmt.Errorf("push %s: %w", name, err)
	}
	contents, err := oras.PushBytes(ctx, repository, p.mediaType, p.contents)
	if err != nil {
		return fmt.Errorf("push %s: %w", name, err)
	}
	manifest, err := oras.PackManifest(ctx, repository, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		ConfigDescriptor: &config, Layers: []ocispec.Descriptor{contents},
		ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: manifestTime},
	})
	if err != nil {
		return fmt.Errorf("push %s: %w", name, err)
	}
	if err := repository.Tag(ctx, manifest, p.tag); err != nil {
		return fmt.Errorf("tag %s:%s: %w", name, p.tag, err)
	}
	return nil
}

func layer(name string) ([]byte, error) { return fs.ReadFile(samples.Content, layersFolder+"/"+name) }
