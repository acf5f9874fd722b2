package descriptor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
)

// read follows the chain manifest, config, descriptor; each link is verified by the digest in the one before.
func (r *Reader) read(ctx context.Context, from *remote.Repository, tag string) (*Component, error) {
	manifest, root, err := fetchManifest(ctx, from, tag)
	if err != nil {
		return nil, err
	}
	layer, err := fetchConfig(ctx, from, manifest)
	if err != nil {
		return nil, err
	}
	limit := r.MaxDescriptor
	if limit <= 0 {
		limit = DefaultMaxDescriptor
	}
	layerMax, err := layerLimit(layer.MediaType, limit)
	if err != nil {
		return nil, err
	}
	packed, err := fetchBlob(ctx, from, "component descriptor", layer, layerMax)
	if err != nil {
		return nil, err
	}
	data, err := unpack(layer.MediaType, packed, limit)
	if err != nil {
		return nil, err
	}
	component, err := Decode(data)
	if err != nil {
		return nil, err
	}
	component.Digest = root.String()
	component.adoptMediaTypes(manifest.Layers)
	return component, nil
}

// fetchManifest reads the manifest behind a tag, and returns its digest too.
func fetchManifest(ctx context.Context, from *remote.Repository, tag string) (ocispec.Manifest, digest.Digest, error) {
	var manifest ocispec.Manifest
	found, body, err := from.Manifests().FetchReference(ctx, tag)
	if err != nil {
		return manifest, "", err
	}
	defer func() { _ = body.Close() }()
	if err := checkSize("manifest", found.Size, maxManifest); err != nil {
		return manifest, "", err
	}
	data, err := content.ReadAll(body, found)
	if err != nil {
		return manifest, "", readError("manifest", err)
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return manifest, "", invalid("what lies there is no OCI manifest but %q: %w", found.MediaType, err)
	}
	if !slices.Contains(configMediaTypes, manifest.Config.MediaType) {
		return manifest, "", invalid("what lies there is no component version but %q with config %q", found.MediaType, manifest.Config.MediaType)
	}
	return manifest, found.Digest, nil
}

// fetchConfig reads the config, which says which layer is the component descriptor.
func fetchConfig(ctx context.Context, from *remote.Repository, manifest ocispec.Manifest) (ocispec.Descriptor, error) {
	data, err := fetchBlob(ctx, from, "config", manifest.Config, maxConfig)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	var config struct {
		Layer ocispec.Descriptor `json:"componentDescriptorLayer"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return ocispec.Descriptor{}, invalid("config is no JSON: %w", err)
	}
	if err := config.Layer.Digest.Validate(); err != nil {
		return ocispec.Descriptor{}, invalid("config points to no component descriptor (componentDescriptorLayer): %w", err)
	}
	return config.Layer, nil
}

// fetchBlob reads a blob of at most limit bytes. One that is not there makes the component version invalid, not unknown:
// its manifest is there.
func fetchBlob(ctx context.Context, from *remote.Repository, what string, blob ocispec.Descriptor, limit int64) ([]byte, error) {
	if err := blob.Digest.Validate(); err != nil {
		return nil, invalid("%s has no valid digest: %w", what, err)
	}
	if err := checkSize(what, blob.Size, limit); err != nil {
		return nil, err
	}
	body, err := from.Blobs().Fetch(ctx, blob)
	if errors.Is(err, errdef.ErrNotFound) {
		return nil, invalid("%s %s is missing in the registry: push the component version again", what, blob.Digest)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = body.Close() }()
	data, err := content.ReadAll(body, blob)
	if err != nil {
		return nil, readError(what, err)
	}
	return data, nil
}

// adoptMediaTypes fills in what older descriptors leave to the manifest.
func (c *Component) adoptMediaTypes(layers []ocispec.Descriptor) {
	for i := range c.Resources {
		access := &c.Resources[i].Access
		if access.isLayer() && access.MediaType == "" {
			for _, layer := range layers {
				if layer.Digest.String() == access.LocalReference {
					access.MediaType = layer.MediaType
				}
			}
		}
	}
}
