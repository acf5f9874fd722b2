package content

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ImageSource is an image in an OCI registry, whose layers are merged: the usual format of a bundle.
type ImageSource struct {
	OCI *OCI
	// Image is "host/path:tag", "host/path@sha256:..." or "host/path:tag@sha256:...", where the digest wins.
	Image string
}

// Reference returns the image as written.
func (s *ImageSource) Reference() string {
	if image, err := ParseImage(s.Image); err == nil {
		return image.String()
	}
	return "an image whose name cannot be read"
}

// Resolve requests the digest that a tag names now; an image with a digest needs no request.
func (s *ImageSource) Resolve(ctx context.Context) (Resolved, error) {
	image, err := ParseImage(s.Image)
	if err != nil {
		return Resolved{}, err
	}
	if image.Digest != "" {
		return Resolved{Digest: image.Digest}, nil
	}
	return s.OCI.resolve(ctx, image)
}

// Fetch returns the merged files of all layers. Manifests and layers are stored, each verified by its digest.
func (s *ImageSource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	image, err := ParseImage(s.Image)
	if err != nil {
		return nil, err
	}
	tree, err := s.OCI.unpackImage(ctx, image, resolved.Digest)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", image.at(resolved.Digest), err)
	}
	return tree, nil
}

func (o *OCI) unpackImage(ctx context.Context, image Image, digest string) (*Tree, error) {
	manifest, err := o.manifest(ctx, image.at(digest))
	if err != nil {
		return nil, err
	}
	limits := o.Store.Limits.OrDefault()
	if err := checkLayers(manifest.Layers, limits); err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(manifest.Layers))
	for _, layer := range manifest.Layers {
		path, err := o.listed(ctx, image, layer)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if err := takeRoomFor(ctx, limits, paths...); err != nil {
		return nil, err
	}
	unpack, tree := &unpacker{limits: limits, layered: true}, &Tree{}
	for _, path := range paths {
		found, err := unpack.next(path)
		if err != nil {
			return nil, err
		}
		tree.Files = found.over(tree.Files)
	}
	if len(tree.Files) == 0 {
		return nil, invalid("it holds no regular file: put the manifests into it")
	}
	return tree, nil
}

// listed fetches a layer of a manifest from the manifest's registry: it does not follow URLs in the manifest.
func (o *OCI) listed(ctx context.Context, image Image, layer ocispec.Descriptor) (string, error) {
	path, err := o.Layer(ctx, image.at(layer.Digest.String()))
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("look at stored content: %w", err)
	}
	if info.Size() != layer.Size {
		return "", mismatch("layer %s has %d bytes, not %d as in the manifest: push the image again", layer.Digest, info.Size(), layer.Size)
	}
	return path, nil
}

// tarLayer matches the media types of tar archives, in images and in other artifacts.
var tarLayer = regexp.MustCompile(`[./+-]tar([.+]gzip)?$`)

// checkLayers checks the layers of a manifest before any is fetched.
func checkLayers(layers []ocispec.Descriptor, limits Limits) error {
	if len(layers) == 0 {
		return invalid("it has no layers: put the manifests into it")
	}
	if len(layers) > maxLayers {
		return refuse("it has %d layers and %d are accepted: build it from scratch", len(layers), maxLayers)
	}
	left := limits.Packed
	for _, layer := range layers {
		if err := checkLayer(layer); err != nil {
			return err
		}
		if layer.Size > left {
			return tooLarge("its layers have more than the accepted %d bytes together: make it smaller or raise the limit", limits.Packed)
		}
		left -= layer.Size
	}
	return nil
}

func checkLayer(layer ocispec.Descriptor) error {
	if _, err := digestHex(layer.Digest.String()); err != nil {
		return invalid("it lists a layer under %s, which is no sha256 digest", Quote(layer.Digest.String()))
	}
	switch kind := layer.MediaType; {
	case layer.Size < 0:
		return invalid("it lists layer %s with %d bytes", layer.Digest, layer.Size)
	case strings.HasSuffix(kind, "zstd"):
		return invalid("layer %s is compressed with zstd, which is not read here: push it with gzip", layer.Digest)
	case strings.Contains(kind, ".nondistributable.") || strings.Contains(kind, ".foreign."):
		return invalid("layer %s is not kept in the registry (media type %s): push it there", layer.Digest, Quote(kind))
	case !tarLayer.MatchString(kind):
		return invalid("layer %s has media type %s, which is no tar archive", layer.Digest, Quote(kind))
	default:
		return nil
	}
}
