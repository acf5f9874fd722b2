package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// verifyWidth is how many resources are checked concurrently.
const verifyWidth = 4

// verifyResources checks every resource; the result has their order. It returns an error only if ctx is done.
func verifyResources(ctx context.Context, opened *Opened, options VerifyOptions) ([]Check, error) {
	checks := make([]Check, len(opened.Component.Resources))
	var group errgroup.Group
	group.SetLimit(verifyWidth)
	for i := range opened.Component.Resources {
		group.Go(func() error {
			checks[i] = verifyResource(ctx, opened, &opened.Component.Resources[i], options)
			return nil
		})
	}
	return checks, errors.Join(group.Wait(), ctx.Err())
}

// verifyResource checks one resource:
//
//  1. It has a signed digest that its content can be compared with, or has no content.
//  2. Its labels that must be signed are signed.
//  3. Its content, if it can be read, has that digest.
func verifyResource(ctx context.Context, opened *Opened, resource *descriptor.Resource, options VerifyOptions) Check {
	check := Check{Kind: resourceKind(resource), Name: resource.Name, Image: resource.Access.ImageReference, State: StateVerified}
	if wrong := checkDigest(resource); wrong != nil {
		return check.fails(wrong.Reason, "%w", wrong)
	}
	if descriptor.HoldsNothing(resource.Access.Type) {
		return check.skipped("it holds nothing")
	}
	check.Digest, _ = resource.SignedDigest()
	for _, label := range resource.Labels {
		if !label.Signing && slices.Contains(options.SignedLabels, label.Name) {
			return check.fails(LabelNotCovered, "label %s of resource %s is not signed: mark it with signing: true and sign again",
				label.Name, resource.Name)
		}
	}
	switch {
	case check.Kind == KindBlob:
		return verifyBlob(ctx, opened, resource, check)
	case options.Offline:
		return verifyPinned(check).unless(StateFailed, "images are not checked")
	default:
		return verifyImage(ctx, opened, verifyPinned(check))
	}
}

// verifyBlob reads a blob to its end, which verifies its digest.
func verifyBlob(ctx context.Context, opened *Opened, resource *descriptor.Resource, check Check) Check {
	if there := localDigest(resource); there != check.Digest {
		return check.fails(BlobChanged, "resource %s points to content %s, and %s was signed", resource.Name, there, check.Digest)
	}
	layer := slices.IndexFunc(opened.manifest.Layers, func(known ocispec.Descriptor) bool { return known.Digest.String() == check.Digest })
	if layer < 0 {
		return check.fails(BlobMissing, "the content %s of resource %s is no layer of its manifest", check.Digest, resource.Name)
	}
	blob, err := opened.Fetch(ctx, opened.manifest.Layers[layer])
	if err == nil {
		_, err = io.Copy(io.Discard, verifying(blob, opened.manifest.Layers[layer]))
		err = errors.Join(err, blob.Close())
	}
	switch {
	case err == nil:
		return check
	case changedContent(err):
		return check.fails(BlobChanged, "the content of resource %s is not %s, which was signed: %w", resource.Name, check.Digest, err)
	case missingContent(err):
		return check.fails(BlobMissing, "the content %s of resource %s is not there: %w", check.Digest, resource.Name, err)
	default:
		return check.fails(BlobUnreadable, "the content of resource %s cannot be read: %w", resource.Name, err)
	}
}

// verifyPinned compares the digest in the reference of an image, if there is one.
func verifyPinned(check Check) Check {
	if _, pinned, ok := strings.Cut(check.Image, "@"); ok && pinned != check.Digest {
		return check.fails(ImageChanged, "image %s names %s, and %s was signed", check.Name, pinned, check.Digest)
	}
	return check
}

// verifyImage gets the digest that the image reference names now.
func verifyImage(ctx context.Context, opened *Opened, check Check) Check {
	if check.State == StateFailed {
		return check
	}
	now, err := opened.ImageDigest(ctx, check.Image)
	switch {
	case err == nil && now == check.Digest:
		return check
	case err == nil:
		return check.fails(ImageChanged, "image %s is %s now, and %s was signed", check.Image, now, check.Digest)
	case missingContent(err):
		return check.fails(ImageMissing, "image %s is not there: %w", check.Image, err)
	default:
		return check.fails(ImageUnreadable, "image %s cannot be requested: %w", check.Image, err)
	}
}

func (c Check) fails(reason, format string, args ...any) Check {
	c.State, c.Reason, c.Message = StateFailed, reason, fmt.Errorf(format, args...).Error()
	return c
}

func (c Check) skipped(why string) Check {
	c.State, c.Message = StateSkipped, why
	return c
}

// unless turns a check in any other state into a skipped one.
func (c Check) unless(state, why string) Check {
	if c.State == state {
		return c
	}
	return c.skipped(why)
}

// changedContent reports whether an error means that bytes do not match their digest.
func changedContent(err error) bool {
	return errors.Is(err, descriptor.ErrDigestMismatch) || content.ReasonOf(err) == content.ReasonDigestMismatch ||
		strings.Contains(err.Error(), "mismatch Content-Length") // which is all that oras says of another size
}

func missingContent(err error) bool {
	return errors.Is(err, errdef.ErrNotFound) || content.ReasonOf(err) == content.ReasonContentNotFound ||
		descriptor.ReasonOf(err) == descriptor.ReasonNotFound
}

// isDescriptor reports whether a layer's media type is one that OCM uses, or has used, for descriptors.
func isDescriptor(mediaType string) bool {
	return strings.Contains(mediaType, ".component-descriptor.")
}
