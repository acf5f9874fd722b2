package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// rewrite replaces the descriptor of a component version by what change makes of it, in its registry or archive; everything else stays.
// It gives the digest of the new manifest, which is the old one when nothing changed.
func rewrite(ctx context.Context, ref Ref, change func(context.Context, *compdesc.ComponentDescriptor) error) (_ string, err error) {
	opened, err := Open(ctx, ref)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	made, err := opened.changed(ctx, change)
	if err != nil || made == nil {
		return opened.Component.Digest, err
	}
	if ref.Registry != nil {
		err := ref.Registry.upload(ctx, layered{made, opened}, made.root, opened.Ref.Name, opened.Ref.Version)
		if err != nil {
			return "", err
		}
		return confirm(ctx, *ref.Registry, made.Document)
	}
	return made.Digest, rewriteArchive(ctx, opened, made)
}

// changed packs the component version with another descriptor; nil when it is the same.
func (o *Opened) changed(ctx context.Context, change func(context.Context, *compdesc.ComponentDescriptor) error) (*packed, error) {
	document, err := compdesc.Decode(o.Text)
	if err != nil {
		return nil, fmt.Errorf("read descriptor of %s: %w", o.Ref, err)
	}
	before, err := compdesc.Encode(document)
	if err != nil {
		return nil, fmt.Errorf("write descriptor of %s: %w", o.Ref, err)
	}
	if err := change(ctx, document); err != nil {
		return nil, err
	}
	after, err := compdesc.Encode(document)
	if err != nil {
		return nil, fmt.Errorf("write descriptor of %s: %w", o.Ref, err)
	}
	if string(before) == string(after) {
		return nil, nil
	}
	old, err := others(o.document())
	if err != nil {
		return nil, err
	}
	return assemble(document, old)
}

// document is what was read.
func (o *Opened) document() *descriptor.Document {
	return &descriptor.Document{Component: o.Component, Text: o.Text, Manifest: o.Manifest}
}

// rewriteArchive puts another manifest where the opened one is, unless somebody else did so meanwhile.
func rewriteArchive(ctx context.Context, opened *Opened, made *packed) (err error) {
	staged := stage(opened.Ref.Path)
	defer func() { err = errors.Join(err, staged.remove()) }()
	staged.put(made)
	repository, tag := path.Join(archiveNamespace, opened.Ref.Name), tagOf(opened.Ref.Version)
	staged.add(repository, tag, made.root.Digest)
	_, err = staged.commit(ctx, func(there *archive) (bool, error) {
		if there != nil {
			if entry, ok := there.find(repository, tag); ok && entry.Digest == opened.root().Digest {
				return true, nil
			}
		}
		return false, fmt.Errorf("component %s was changed by somebody else at the same time: try again", opened.Ref)
	})
	return err
}

// layered are blobs of which some are new; the others are where the component version was.
type layered struct {
	*packed
	below content.ReadOnlyStorage
}

// Exists tells whether one of both has a blob.
func (l layered) Exists(ctx context.Context, wanted ocispec.Descriptor) (bool, error) {
	if found, err := l.packed.Exists(ctx, wanted); err != nil || found {
		return found, err
	}
	return l.below.Exists(ctx, wanted)
}

// Fetch opens a blob of one of both.
func (l layered) Fetch(ctx context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	if found, err := l.packed.Exists(ctx, wanted); err != nil || found {
		return l.packed.Fetch(ctx, wanted)
	}
	return l.below.Fetch(ctx, wanted)
}
