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

// Document is a component version with the bytes that it was read from.
type Document struct {
	*Component
	// Text is the component descriptor, in YAML or JSON.
	Text []byte
	// Manifest is the OCI manifest, of the digest in Component.Digest.
	Manifest []byte
}

// ReadManifest reads a component version from its manifest: it follows the chain manifest, config, descriptor, and verifies each link by
// the digest in the previous one. limit is the maximum size of the descriptor in bytes; 0 means DefaultMaxDescriptor.
func ReadManifest(ctx context.Context, blobs content.Fetcher, data []byte, limit int64) (*Document, error) {
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, invalid("the stored content is no OCI manifest: %w", err)
	}
	if !slices.Contains(configMediaTypes, manifest.Config.MediaType) {
		return nil, invalid("the stored content is no component version but %q with config %q", manifest.MediaType, manifest.Config.MediaType)
	}
	layer, err := fetchConfig(ctx, blobs, manifest)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = DefaultMaxDescriptor
	}
	layerMax, err := layerLimit(layer.MediaType, limit)
	if err != nil {
		return nil, err
	}
	packed, err := fetchBlob(ctx, blobs, "component descriptor", layer, layerMax)
	if err != nil {
		return nil, err
	}
	text, err := unpack(layer.MediaType, packed, limit)
	if err != nil {
		return nil, err
	}
	component, err := Decode(text)
	if err != nil {
		return nil, err
	}
	component.Digest = digest.FromBytes(data).String()
	component.adoptMediaTypes(manifest.Layers)
	return &Document{Component: component, Text: text, Manifest: data}, nil
}

// read reads the component version of a tag.
func (r *Reader) read(ctx context.Context, from *remote.Repository, tag string) (*Document, error) {
	data, err := fetchManifest(ctx, from, tag)
	if err != nil {
		return nil, err
	}
	return ReadManifest(ctx, from.Blobs(), data, r.MaxDescriptor)
}

// fetchManifest reads the manifest of a tag.
func fetchManifest(ctx context.Context, from *remote.Repository, tag string) ([]byte, error) {
	found, body, err := from.Manifests().FetchReference(ctx, tag)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	if err := checkSize("manifest", found.Size, maxManifest); err != nil {
		return nil, err
	}
	data, err := content.ReadAll(body, found)
	if err != nil {
		return nil, readError("manifest", err)
	}
	if !json.Valid(data) {
		return nil, invalid("the stored content is no OCI manifest but %q", found.MediaType)
	}
	return data, nil
}

// fetchConfig reads the config, which names the layer with the component descriptor.
func fetchConfig(ctx context.Context, from content.Fetcher, manifest ocispec.Manifest) (ocispec.Descriptor, error) {
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

// fetchBlob reads a blob of at most limit bytes. A missing blob makes the component version invalid, not unknown: its manifest exists.
func fetchBlob(ctx context.Context, from content.Fetcher, what string, blob ocispec.Descriptor, limit int64) ([]byte, error) {
	if err := blob.Digest.Validate(); err != nil {
		return nil, invalid("%s has no valid digest: %w", what, err)
	}
	if err := checkSize(what, blob.Size, limit); err != nil {
		return nil, err
	}
	body, err := from.Fetch(ctx, blob)
	if errors.Is(err, errdef.ErrNotFound) {
		return nil, invalid("%s %s is missing: publish the component version again", what, blob.Digest)
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

// adoptMediaTypes sets media types that older descriptors leave to the manifest.
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
