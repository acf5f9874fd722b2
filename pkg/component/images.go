package component

import (
	"cmp"
	"context"
	"fmt"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	orascontent "oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// parseImage reads the reference of an image by Docker's grammar, in which the host may be left out.
func parseImage(text string) (content.Image, error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return content.Image{}, fmt.Errorf("image %q is no reference: %w", text, err)
	}
	return content.ParseImage(named.String())
}

// foundImage is an image or an index of images, and where it was found.
type foundImage struct {
	ocispec.Descriptor
	from orascontent.ReadOnlyGraphStorage
	// tagged resolves another tag of the image's repository.
	tagged func(ctx context.Context, tag string) (ocispec.Descriptor, error)
}

// image returns what an image reference names: the manifest of its digest, or else of its tag. It tries the archive, if given, before the
// registry.
func (s *session) image(ctx context.Context, in *ctf.Archive, image content.Image) (foundImage, error) {
	if in != nil {
		if entry, ok := in.Find(imageRepository(image), cmp.Or(image.Digest, image.Tag)); ok {
			described, _, err := in.Describe(entry.Digest)
			return foundImage{described, ctf.Storage{Archive: in}, archivedTags(in, imageRepository(image))}, err
		}
	}
	places, err := s.repositories(image.Registry, image.Repository)
	if err != nil {
		return foundImage{}, fmt.Errorf("image %s: %w", image, err)
	}
	for _, repository := range places {
		var found ocispec.Descriptor
		if found, err = repository.Resolve(ctx, cmp.Or(image.Digest, image.Tag)); err == nil {
			if !ctf.IsSHA256(found.Digest) {
				return foundImage{}, fmt.Errorf("image %s has digest %s, which is no sha256", image, found.Digest)
			}
			return foundImage{found, repository, repository.Resolve}, nil
		}
	}
	return foundImage{}, fmt.Errorf("image %s: %w", image, registryError(err))
}

// archivedTags resolves tags of a repository in an archive.
func archivedTags(in *ctf.Archive, repository string) func(context.Context, string) (ocispec.Descriptor, error) {
	return func(_ context.Context, tag string) (ocispec.Descriptor, error) {
		entry, ok := in.Find(repository, tag)
		if !ok {
			return ocispec.Descriptor{}, fmt.Errorf("%s:%s: %w", repository, tag, errdef.ErrNotFound)
		}
		found, _, err := in.Describe(entry.Digest)
		return found, err
	}
}

// imageRepository is the repository of an image in an archive: the image's full name, with its host.
func imageRepository(image content.Image) string { return image.Registry + "/" + image.Repository }

// ImageDigest returns the digest of the manifest (or index) that an image reference names now: "sha256:...". It tries an archive that holds
// the image first, then the image's registry, using the component's access.
func (o *Opened) ImageDigest(ctx context.Context, image string) (string, error) {
	return o.session.imageDigest(ctx, o.archive, image)
}

// imageDigest returns the digest of the manifest that an image reference names now.
func (a Access) imageDigest(ctx context.Context, image string) (string, error) {
	return a.session().imageDigest(ctx, nil, image)
}

func (s *session) imageDigest(ctx context.Context, in *ctf.Archive, text string) (string, error) {
	image, err := parseImage(text)
	if err != nil {
		return "", err
	}
	found, err := s.image(ctx, in, image)
	if err != nil {
		return "", err
	}
	return found.Digest.String(), nil
}

// pinned returns the image with its required digest: that of its reference, or else that of the descriptor. The two must not differ.
func pinned(image content.Image, said string) (content.Image, error) {
	if said == "" {
		return image, nil
	}
	if image.Digest != "" && image.Digest != said {
		return image, fmt.Errorf("image %s has digest %s by its component: it is ambiguous", image, said)
	}
	if err := digest.Digest(said).Validate(); err != nil {
		return image, fmt.Errorf("image %s has %q instead of a digest in its component: %w", image, said, err)
	}
	image.Digest = said
	return image, nil
}
