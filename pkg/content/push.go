package content

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
)

// PushImage publishes files as an image with one layer, which an ImageSource can read: so a bundle in a local directory gets to where
// clusters find it. image is "host/path:tag". It returns the image with its digest. The same files always give the same digest, and pushing
// them again changes nothing; a tag that names other content is moved.
func (r Registries) PushImage(ctx context.Context, image string, files []File) (pushed string, err error) {
	to, err := ParseImage(image)
	if err != nil {
		return "", err
	}
	if to.Tag == "" || to.Digest != "" {
		return "", sourceInvalid("image %s: give a tag to push to, and no digest", Quote(image))
	}
	repository, err := remote.NewRepository(to.Registry + "/" + to.Repository)
	if err != nil {
		return "", sourceInvalid("image %s: %v", Quote(image), err)
	}
	repository.Client, repository.PlainHTTP = r.Client(), r.plain(to.Registry)
	parts, manifest, err := packImage(files)
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		if _, err := oras.PushBytes(ctx, repository, part.mediaType, part.data); err != nil {
			return "", fmt.Errorf("push %s: %w", image, RegistryError(err))
		}
	}
	tagged, err := oras.TagBytes(ctx, repository, ocispec.MediaTypeImageManifest, manifest, to.Tag)
	if err != nil {
		return "", fmt.Errorf("push %s: %w", image, RegistryError(err))
	}
	return tagged.Digest.String(), nil
}

// imagePart is one blob of an image.
type imagePart struct {
	mediaType string
	data      []byte
}

// packImage makes the parts of an image and its manifest. The config has the fields that container tools expect, and nothing that differs
// from run to run.
func packImage(files []File) (parts []imagePart, manifest []byte, err error) {
	layer := imagePart{ocispec.MediaTypeImageLayer, Archive(files)}
	config := ocispec.Image{
		Platform: ocispec.Platform{Architecture: "amd64", OS: "linux"},
		RootFS:   ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layer.data)}},
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the image's config: %w", err)
	}
	described := imagePart{ocispec.MediaTypeImageConfig, encoded}
	manifest, err = json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: described.descriptor(), Layers: []ocispec.Descriptor{layer.descriptor()},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("encode the image's manifest: %w", err)
	}
	return []imagePart{layer, described}, manifest, nil
}

func (p imagePart) descriptor() ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: p.mediaType, Digest: digest.FromBytes(p.data), Size: int64(len(p.data))}
}
