package testkit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	mediaTypeChart       = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	mediaTypeChartConfig = "application/vnd.cncf.helm.config.v1+json"
)

// Files are the files of a chart, a kustomization or a bundle, by path.
type Files map[string]string

// Chart returns a Helm chart in its packaged form: one folder, with these files beside its Chart.yaml.
func Chart(name, version string, files Files) Files {
	chart := files.Below(name)
	chart[name+"/Chart.yaml"] = fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)
	return chart
}

// Below moves the files into a folder.
func (f Files) Below(folder string) Files {
	moved := Files{}
	for name, data := range f {
		moved[path.Join(folder, name)] = data
	}
	return moved
}

// Tar returns the files as an archive, reproducibly.
func (f Files) Tar() []byte {
	var files []content.File
	for name, data := range f {
		files = append(files, content.File{Path: name, Data: []byte(data)})
	}
	slices.SortFunc(files, func(a, b content.File) int { return strings.Compare(a.Path, b.Path) })
	return content.Archive(files)
}

// Gzip returns the archive compressed, as charts are.
func (f Files) Gzip() []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(f.Tar()); err != nil {
		panic(fmt.Sprintf("memory refuses to be written: %v", err))
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprintf("memory refuses to be written: %v", err))
	}
	return out.Bytes()
}

// PushImage pushes an image of these layers under a tag, which moves when it exists already, and returns its digest.
func (e *Env) PushImage(repository, tag string, layers ...Files) string {
	ginkgo.GinkgoHelper()
	pushed := make([]blob, 0, len(layers))
	for _, layer := range layers {
		pushed = append(pushed, blob{ocispec.MediaTypeImageLayerGzip, layer.Gzip()})
	}
	return e.push(repository, tag, blob{ocispec.MediaTypeImageConfig, []byte(`{"os":"linux","architecture":"amd64"}`)}, pushed...)
}

// PushChart pushes a packaged chart as Helm does, and returns the digest of its manifest.
func (e *Env) PushChart(repository, version string, chart Files) string {
	ginkgo.GinkgoHelper()
	return e.push(repository, version, blob{mediaTypeChartConfig, []byte(`{}`)}, blob{mediaTypeChart, chart.Gzip()})
}

// PushLayer pushes one layer and returns the source that names it.
func (e *Env) PushLayer(data []byte, kind v1beta2.RefType) v1beta2.ImageSpec {
	ginkgo.GinkgoHelper()
	name := Unique("layer")
	e.push("layers/"+name, "1.0.0", blob{ocispec.MediaTypeEmptyJSON, []byte(`{}`)}, blob{"application/octet-stream", data})
	return v1beta2.ImageSpec{
		Repo: "http://" + e.Registry.Host + "/layers", Name: name, Ref: digest.FromBytes(data).String(), Type: kind,
	}
}

type blob struct {
	mediaType string
	data      []byte
}

func (e *Env) push(repository, tag string, config blob, layers ...blob) string {
	ginkgo.GinkgoHelper()
	target, err := remote.NewRepository(e.Registry.Host + "/" + repository)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	target.PlainHTTP = true
	ctx, cancel := background()
	defer cancel()
	var described []ocispec.Descriptor
	for _, part := range append([]blob{config}, layers...) {
		descriptor, err := oras.PushBytes(ctx, target, part.mediaType, part.data)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		described = append(described, descriptor)
	}
	options := oras.PackManifestOptions{
		ConfigDescriptor: &described[0], Layers: described[1:],
		ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: "2026-01-01T00:00:00Z"}, // equal content has an equal digest
	}
	manifest, err := oras.PackManifest(ctx, target, oras.PackManifestVersion1_0, config.mediaType, options)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(target.Tag(ctx, manifest, tag)).To(gomega.Succeed())
	return manifest.Digest.String()
}

// Rendered is a resource of a component with a label that determines how it is rendered.
type Rendered struct {
	Name, Renderer string
	Data           []byte
}

// PublishRendered pushes a component version with labelled resources, which component.Push cannot write.
func (e *Env) PublishRendered(name, version string, parts ...Rendered) {
	ginkgo.GinkgoHelper()
	const descriptorType = "application/vnd.ocm.software.component-descriptor.v2+json"
	var resources []any
	layers := []blob{{mediaType: descriptorType}}
	for _, part := range parts {
		layers = append(layers, blob{"application/octet-stream", part.Data})
		resources = append(resources, map[string]any{
			"name": part.Name, "version": version, "type": "blob", "relation": "local",
			"labels": []any{map[string]any{"name": v1beta2.LabelRenderer, "value": part.Renderer}},
			"access": map[string]any{
				"type": "localBlob", "mediaType": "application/octet-stream", "localReference": digest.FromBytes(part.Data).String(),
			},
		})
	}
	layers[0].data = Raw(map[string]any{
		"meta":      map[string]any{"schemaVersion": "v2"},
		"component": map[string]any{"name": name, "version": version, "provider": "kyma-project.io", "resources": resources},
	}).Raw
	config := Raw(map[string]any{"componentDescriptorLayer": map[string]any{
		"mediaType": descriptorType, "digest": digest.FromBytes(layers[0].data).String(), "size": len(layers[0].data),
	}}).Raw
	e.push("component-descriptors/"+name, version, blob{"application/vnd.ocm.software.component.config.v1+json", config}, layers...)
}

// Objects reads a YAML file of this repository, such as "config/components/content/access.yaml".
func (c *Cluster) Objects(file string) []*unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	root, err := localcluster.Root()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	data, err := os.ReadFile(filepath.Join(root, file))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	objects, err := decode(data)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return objects
}

// ParseYAML reads one object.
func ParseYAML(text string) *unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	objects, err := decode([]byte(text))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(objects).To(gomega.HaveLen(1))
	return objects[0]
}
