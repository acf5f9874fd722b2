package communitycatalog

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// The media types of the files of a catalog.
const (
	mediaYAML = "application/yaml"
	mediaJSON = "application/json"
)

// Push publishes a catalog as an artifact in a registry, which Fetch reads, and returns its digest. The same catalog always has the same
// digest; pushing it again changes nothing, and a tag of another catalog is moved. address is oci://HOST/PATH:TAG.
func Push(ctx context.Context, address string, catalog Built, limits Limits) (pushed string, err error) {
	image, err := content.ParseImage(strings.TrimPrefix(address, "oci://"))
	switch {
	case err != nil:
		return "", err
	case image.Tag == "" || image.Digest != "" || !strings.HasPrefix(address, "oci://"):
		return "", invalid("%s: a catalog is pushed to a tag: write oci://HOST/PATH:TAG", short(address))
	}
	to, done, err := openRegistry(image, limits)
	if err != nil {
		return "", err
	}
	defer done()
	manifest := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		ArtifactType: ArtifactType, Config: ocispec.DescriptorEmptyJSON,
		Layers: []ocispec.Descriptor{layerOf(FileYAML, mediaYAML, catalog.YAML), layerOf(FileJSON, mediaJSON, catalog.JSON)},
	}
	for i, data := range [][]byte{catalog.YAML, catalog.JSON} {
		if _, err := oras.PushBytes(ctx, to.Repository, manifest.Layers[i].MediaType, data); err != nil {
			return "", explainedAnswer(to.where, err)
		}
	}
	if _, err := oras.PushBytes(ctx, to.Repository, ocispec.MediaTypeEmptyJSON, ocispec.DescriptorEmptyJSON.Data); err != nil {
		return "", explainedAnswer(to.where, err)
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return "", err
	}
	tagged, err := oras.TagBytes(ctx, to.Repository, ocispec.MediaTypeImageManifest, text, image.Tag)
	if err != nil {
		return "", explainedAnswer(to.where, err)
	}
	return tagged.Digest.String(), nil
}

func layerOf(name, mediaType string, data []byte) ocispec.Descriptor {
	return ocispec.Descriptor{
		MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data)),
		Annotations: map[string]string{ocispec.AnnotationTitle: name},
	}
}
