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

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// rewrite replaces the descriptor of a component version with the result of change, in its registry or archive; everything else stays. It
// returns the digest of the new manifest, or of the old one if nothing changed.
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

// changed packs the component version with another descriptor; nil means no change.
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

// document returns what was read.
func (o *Opened) document() *descriptor.Document {
	return &descriptor.Document{Component: o.Component, Text: o.Text, Manifest: o.Manifest}
}

// rewriteArchive replaces the opened manifest, unless it was replaced meanwhile.
func rewriteArchive(ctx context.Context, opened *Opened, made *packed) (err error) {
	staged := ctf.Stage(opened.Ref.Path)
	defer func() { err = errors.Join(err, staged.Remove()) }()
	made.stage(staged)
	repository, tag := path.Join(archiveNamespace, opened.Ref.Name), tagOf(opened.Ref.Version)
	staged.Add(repository, tag, made.root.Digest)
	_, err = staged.Commit(ctx, func(there *ctf.Archive) (bool, error) {
		if there != nil {
			if entry, ok := there.Find(repository, tag); ok && entry.Digest == opened.root().Digest {
				return true, nil
			}
		}
		return false, fmt.Errorf("component %s was changed concurrently: try again", opened.Ref)
	})
	return err
}

// layered combines new blobs with those of the existing component version.
type layered struct {
	*packed
	below content.ReadOnlyStorage
}

// Exists reports whether either has a blob.
func (l layered) Exists(ctx context.Context, wanted ocispec.Descriptor) (bool, error) {
	if found, err := l.packed.Exists(ctx, wanted); err != nil || found {
		return found, err
	}
	return l.below.Exists(ctx, wanted)
}

// Fetch opens a blob of either.
func (l layered) Fetch(ctx context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	if found, err := l.packed.Exists(ctx, wanted); err != nil || found {
		return l.packed.Fetch(ctx, wanted)
	}
	return l.below.Fetch(ctx, wanted)
}
