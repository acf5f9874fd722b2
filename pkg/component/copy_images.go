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
	"oras.land/oras-go/v2"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// copiedImage is an image that is copied, and its reference before and after.
type copiedImage struct {
	foundImage
	resource string
	text     string
	was, is  content.Image
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
	for _, image := range c.images {
		if err := c.pushImage(ctx, into, image); err != nil {
			return fmt.Errorf("image %s to %s: %w", image.was, image.is, err)
		}
	}
	return nil
}

// pushImage copies one image. It moves a tag that names another image only if Overwrite is set.
func (c *copying) pushImage(ctx context.Context, into *session, image copiedImage) error {
	repository, err := into.repository(image.is.Registry, image.is.Repository)
	if err != nil {
		return err
	}
	tagged := image.is.Tag == ""
	if !tagged {
		if known, err := repository.Resolve(ctx, image.is.Tag); err == nil {
			if tagged = known.Digest == image.Digest; !tagged && !c.opts.Overwrite {
				return fmt.Errorf("the tag names %s there, and would name %s: choose another place (prefix), or overwrite it",
					known.Digest, image.Digest)
			}
		}
	}
	if err := oras.CopyGraph(ctx, image.from, repository, image.Descriptor, oras.DefaultCopyGraphOptions); err != nil {
		return registryError(err)
	}
	if tagged {
		return nil
	}
	return registryError(repository.Tag(ctx, image.Descriptor, image.is.Tag))
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
