package component

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/open-component-model/ocm/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// copiedImage is an image that is copied, and its reference before and after.
type copiedImage struct {
	foundImage
	resource string
	text     string
	was, is  content.Image

	changed   bool
	referrers int
}

// place sets the image's new reference in a registry: its former path, below the registry's sub path and the prefix.
func (i *copiedImage) place(to Registry, prefix string) {
	i.is = i.was
	i.is.Registry = to.Host
	i.is.Repository = path.Join(strings.Trim(to.SubPath, "/"), strings.Trim(prefix, "/"), i.was.Repository)
}

// findImages resolves all images of the component before anything is written, so that a missing one is reported at once.
func (c *copying) findImages(ctx context.Context) error {
	for i := range c.Component.Resources {
		resource := &c.Component.Resources[i]
		text := resource.Access.ImageReference
		if text == "" && resource.Type == typeImage && resourceKind(resource) != KindBlob {
			return fmt.Errorf("resource %s is an image, and its access of type %q does not locate it: verify the component",
				resource.Name, resource.Access.Type)
		}
		if text == "" {
			continue
		}
		was, err := parseImage(text)
		if err != nil {
			return fmt.Errorf("resource %s: %w", resource.Name, err)
		}
		wanted := was
		if said, ok := resource.SignedDigest(); ok && resource.Digest.NormalisationAlgorithm == descriptor.DigestArtifact {
			if wanted, err = pinned(was, said); err != nil {
				return fmt.Errorf("resource %s: %w", resource.Name, err)
			}
		}
		found, err := c.session.image(ctx, c.archive, wanted)
		if err != nil {
			return fmt.Errorf("resource %s: %w", resource.Name, err)
		}
		c.images = append(c.images, copiedImage{foundImage: found, resource: resource.Name, text: text, was: was, is: was})
	}
	return nil
}

// pushImages copies the images into the registry.
func (c *copying) pushImages(ctx context.Context) error {
	into := c.to.access().session()
	for i := range c.images {
		image := &c.images[i]
		repository, err := into.repository(image.is.Registry, image.is.Repository)
		if err == nil {
			err = c.sendImage(ctx, image, repository, image.is.Tag)
		}
		if err != nil {
			return fmt.Errorf("image %s to %s: %w", image.was, image.is, err)
		}
	}
	return nil
}

// sendImage copies one image, with what refers to it if that is requested.
func (c *copying) sendImage(ctx context.Context, image *copiedImage, to imageTarget, tag string) (err error) {
	image.changed, err = putImage(ctx, image.foundImage, to, tag, c.opts)
	if err == nil && c.opts.Referrers {
		referrers := referrersCopy{image: image.foundImage, to: to, opts: c.opts}
		err = referrers.all(ctx)
		image.referrers, image.changed = referrers.count, image.changed || referrers.changed
	}
	return registryError(err)
}

// relocate writes the new image references into a descriptor.
func (c *copying) relocate(document *compdesc.ComponentDescriptor) error {
	for _, image := range c.images {
		if image.is == image.was {
			continue
		}
		for i := range document.Resources {
			resource := &document.Resources[i]
			if resource.Name != image.resource {
				continue
			}
			access, err := runtime.ToUnstructuredTypedObject(resource.Access)
			if err != nil {
				return fmt.Errorf("resource %s: read its access: %w", resource.Name, err)
			}
			if access.Object[fieldImageReference] != image.text {
				continue // another one of the same name
			}
			moved := runtime.NewEmptyUnstructuredVersioned(access.GetType())
			maps.Copy(moved.Object, access.Object)
			moved.Object[fieldImageReference] = image.is.String()
			resource.Access = moved
		}
	}
	return nil
}

// report lists the copied images.
func (c *copying) report() (told []CopiedImage) {
	for _, image := range c.images {
		told = append(told, CopiedImage{
			Resource: image.resource, From: image.text, To: cmp.Or(c.reference(image), image.text), Digest: image.Digest.String(),
			Changed: image.changed, Referrers: image.referrers,
		})
	}
	return told
}

func (c *copying) reference(image copiedImage) string {
	if image.is == image.was {
		return ""
	}
	return image.is.String()
}
