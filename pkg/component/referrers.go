package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	orascontent "oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
)

// imageTarget is a repository that images are copied into, in a registry or a layout.
type imageTarget interface {
	orascontent.Storage
	orascontent.TagResolver
}

// cosignSuffixes end the tags under which cosign stores signatures, attestations and SBOMs of the image whose digest the tag names.
var cosignSuffixes = []string{".sig", ".att", ".sbom"}

// putImage copies an image and gives it its tag; an empty tag leaves it under its digest. It moves a tag that names another image only if
// Overwrite is set. It reports false if everything was there.
func putImage(ctx context.Context, image foundImage, to imageTarget, tag string, opts CopyOptions) (changed bool, err error) {
	there, err := exists(ctx, to, image.Descriptor)
	if err != nil {
		return false, err
	}
	tagged := tag == ""
	if !tagged {
		if known, err := to.Resolve(ctx, tag); err == nil {
			if tagged = known.Digest == image.Digest; !tagged && !opts.Overwrite {
				return false, fmt.Errorf("the tag names %s there, and would name %s: choose another place (prefix), or overwrite it",
					known.Digest, image.Digest)
			}
		}
	}
	if opts.DryRun || there && tagged {
		return !there || !tagged, nil
	}
	if err := copyGraph(ctx, image.from, to, image.Descriptor); err != nil {
		return false, err
	}
	if tagged {
		return true, nil
	}
	return true, to.Tag(ctx, image.Descriptor, tag)
}

// exists asks a target for a blob or manifest. A repository that does not exist yet has none.
func exists(ctx context.Context, to imageTarget, wanted ocispec.Descriptor) (bool, error) {
	there, err := to.Exists(ctx, wanted)
	if errors.Is(err, errdef.ErrNotFound) {
		return false, nil
	}
	return there, err
}

// copyGraph copies a manifest and everything below it that is not there yet, verified by digests.
func copyGraph(ctx context.Context, from orascontent.ReadOnlyStorage, to orascontent.Storage, root ocispec.Descriptor) error {
	return oras.CopyGraph(ctx, verifiedStorage{from}, to, root, oras.DefaultCopyGraphOptions)
}

// verifiedStorage fails at the end of a blob whose bytes do not match its digest: not every target would notice.
type verifiedStorage struct{ orascontent.ReadOnlyStorage }

// Fetch opens a blob.
func (s verifiedStorage) Fetch(ctx context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	blob, err := s.ReadOnlyStorage.Fetch(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return verifying(blob, wanted), nil
}

// referrersCopy is the copy of what refers to one image.
type referrersCopy struct {
	image foundImage
	to    imageTarget
	opts  CopyOptions

	count   int  // manifests that refer to the image
	changed bool // at least one of them was not there
}

// all copies what refers to the image, or to one of the images of an index.
func (c *referrersCopy) all(ctx context.Context) error {
	nodes := []ocispec.Descriptor{c.image.Descriptor}
	if isIndex(c.image.MediaType) {
		below, err := orascontent.Successors(ctx, c.image.from, c.image.Descriptor)
		if err != nil {
			return err
		}
		nodes = append(nodes, below...)
	}
	seen := map[digest.Digest]bool{}
	for len(nodes) > 0 {
		node := nodes[0]
		nodes = nodes[1:]
		if seen[node.Digest] {
			continue
		}
		seen[node.Digest] = true
		found, err := c.image.from.Predecessors(ctx, node)
		if err != nil {
			return fmt.Errorf("referrers of %s: %w", node.Digest, err)
		}
		nodes = append(nodes, found...)
		for _, referrer := range found {
			if err := c.one(ctx, referrer, ""); err != nil {
				return fmt.Errorf("referrer %s of %s: %w", referrer.Digest, node.Digest, err)
			}
		}
		if err := c.cosignTags(ctx, node.Digest); err != nil {
			return err
		}
	}
	return nil
}

// cosignTags copies what cosign stored for a digest.
func (c *referrersCopy) cosignTags(ctx context.Context, of digest.Digest) error {
	for _, suffix := range cosignSuffixes {
		tag := strings.ReplaceAll(of.String(), ":", "-") + suffix
		found, err := c.image.tagged(ctx, tag)
		if errors.Is(err, errdef.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("tag %s: %w", tag, err)
		}
		if err := c.one(ctx, found, tag); err != nil {
			return fmt.Errorf("tag %s: %w", tag, err)
		}
	}
	return nil
}

// one copies one manifest. Signatures are added under a tag of cosign's, so that such a tag may move.
func (c *referrersCopy) one(ctx context.Context, referrer ocispec.Descriptor, tag string) error {
	opts := c.opts
	opts.Overwrite = true
	changed, err := putImage(ctx, foundImage{Descriptor: referrer, from: c.image.from}, c.to, tag, opts)
	c.count, c.changed = c.count+1, c.changed || changed
	if layout, ok := c.to.(layoutRepository); err == nil && ok && !opts.DryRun {
		return layout.Note(referrer)
	}
	return err
}

func isIndex(mediaType string) bool {
	return mediaType == ocispec.MediaTypeImageIndex || mediaType == "application/vnd.docker.distribution.manifest.list.v2+json"
}
