package component

import (
	"context"
	"fmt"
	"slices"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Option changes how Build and Push work.
type Option string

// Overwrite replaces an existing version that has other content. It replaces component versions only: an image, or a damaged version, must
// be deleted in the registry first.
const Overwrite Option = "Overwrite"

// ConflictError reports that a version already exists with other content, which others may already run.
type ConflictError struct {
	// Component is the version, as name:version.
	Component string
	// Digest is the digest of the existing manifest, OfferedDigest of the one that should replace it.
	Digest, OfferedDigest string
	// Offered and Existing describe the first difference on both sides, with digests if content differs.
	Offered, Existing string
}

// Error returns the difference and what to do.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("component %s is already published as %s with other content: "+
		"it has %s; %s would have %s: choose a new version, or overwrite it",
		e.Component, e.Digest, e.Existing, e.OfferedDigest, e.Offered)
}

// Push publishes a component version and returns the digest of its manifest. Pushing the same content again changes nothing. Other content
// under an existing version is refused with a *ConflictError, unless Overwrite is among the options. An interrupted push publishes nothing:
// the tag is written last.
func Push(ctx context.Context, registry Registry, version Version, options ...Option) (string, error) {
	version, err := version.complete()
	if err != nil {
		return "", err
	}
	offered, err := version.pack(nil)
	if err != nil {
		return "", err
	}
	there, err := registry.reader().GetDocument(ctx, version.Name, version.Version)
	switch {
	case err == nil:
		known, err := settle(offered.Document, there, slices.Contains(options, Overwrite))
		if err != nil {
			return "", err
		}
		if known && version.Signer != nil && !version.Signer.signed(there.Component) {
			return Sign(ctx, registry, version.Name, version.Version, version.Signer)
		}
		if known {
			return there.Digest, nil
		}
	case descriptor.ReasonOf(err) == descriptor.ReasonNotFound:
	case descriptor.ReasonOf(err) == descriptor.ReasonInvalid:
		return "", fmt.Errorf("push component %s: what has its tag must be deleted in the registry first: %w", version.id(), err)
	default:
		return "", fmt.Errorf("push component %s: %w", version.id(), err)
	}
	if version.Signer != nil {
		sign := func(made *compdesc.ComponentDescriptor) error {
			return version.Signer.seal(ctx, made, registry.access().imageDigest)
		}
		if offered, err = version.pack(sign); err != nil {
			return "", fmt.Errorf("sign component %s: %w", version.id(), err)
		}
	}
	if err := registry.upload(ctx, offered, offered.root, version.Name, version.Version); err != nil {
		return "", fmt.Errorf("push component %s to %s: %w", version.id(), registry.Host, err)
	}
	return confirm(ctx, registry, offered.Document)
}

// settle decides what happens to an existing version:
//
//  1. The same content is known, whatever signatures it has.
//  2. Other content is replaced if overwrite is set.
//  3. Otherwise it is a *ConflictError.
func settle(offered, there *descriptor.Document, overwrite bool) (known bool, err error) {
	ours, theirs, err := difference(offered, there)
	if err != nil {
		return false, fmt.Errorf("compare component %s:%s with the one that is there: %w", there.Name, there.Version, err)
	}
	if ours == theirs || overwrite {
		return ours == theirs, nil
	}
	return false, &ConflictError{
		Component: there.Name + ":" + there.Version, Digest: there.Digest, OfferedDigest: offered.Digest, Offered: ours, Existing: theirs,
	}
}

// confirm reads the version back, so that success means that readers get what was pushed.
func confirm(ctx context.Context, registry Registry, offered *descriptor.Document) (string, error) {
	there, err := registry.reader().GetDocument(ctx, offered.Name, offered.Version)
	if err != nil {
		return "", fmt.Errorf("component %s:%s was pushed and cannot be read back: %w", offered.Name, offered.Version, err)
	}
	if there.Digest == offered.Digest {
		return there.Digest, nil
	}
	ours, theirs, err := difference(offered, there)
	if err != nil || ours != theirs {
		return "", fmt.Errorf("component %s:%s was pushed as %s with %s and is %s with %s now: was it pushed concurrently?",
			offered.Name, offered.Version, offered.Digest, ours, there.Digest, theirs)
	}
	return there.Digest, nil
}

// upload copies a component version into a registry: blobs and manifest first, then the tag.
func (r Registry) upload(ctx context.Context, from content.ReadOnlyStorage, root ocispec.Descriptor, name, version string) error {
	path, tag, err := descriptor.Locate(r.SubPath, r.Mapping, name, version)
	if err != nil {
		return err
	}
	repository, err := r.access().session().repository(r.Host, path)
	if err != nil {
		return err
	}
	if err := oras.CopyGraph(ctx, from, repository, root, oras.DefaultCopyGraphOptions); err != nil {
		return fmt.Errorf("upload: %w", registryError(err))
	}
	if err := repository.Tag(ctx, root, tag); err != nil {
		return fmt.Errorf("tag version: %w", registryError(err))
	}
	return nil
}
