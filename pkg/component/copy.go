package component

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	orascontent "oras.land/oras-go/v2/content"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// CopyOptions configure Copy.
type CopyOptions struct {
	// Images also copies the images that the component refers to.
	Images bool
	// Overwrite replaces an existing version, or image tag, that has other content.
	Overwrite bool
	// ImagePrefix is the path, below the registry's sub path, of the repositories of images.
	ImagePrefix string
	// Referrers also copies what refers to an image: signatures, attestations and SBOMs, as referrers (OCI 1.1) or under cosign's tags.
	Referrers bool
	// DryRun, for a registry, copies nothing and reports what would be copied.
	DryRun bool
}

// CopiedImage is one image that was copied.
type CopiedImage struct {
	// Resource is the name of the component's resource.
	Resource string `json:"resource"`
	// From and To are its references before and after; in an archive the image keeps its reference.
	From string `json:"from"`
	To   string `json:"to"`
	// Digest is the digest of its manifest or index, which is the same in both places.
	Digest string `json:"digest"`
	// Changed is false when the image was already there.
	Changed bool `json:"changed"`
	// Referrers is how many manifests that refer to it are there now.
	Referrers int `json:"referrers,omitempty"`
}

// CopyReport is the result of Copy.
type CopyReport struct {
	// Ref is the component version in its new place.
	Ref Ref `json:"-"`
	// Digest is the digest of the component version's manifest there.
	Digest string `json:"digest"`
	// Changed is false when the version was already there.
	Changed bool `json:"changed"`
	// Images are the images that were copied or were already there.
	Images []CopiedImage `json:"images,omitempty"`
}

// Copy copies a component version between registries and archives, byte for byte, so that its digest stays the same. With Images:
//
//  1. An archive gets the images beside the component version, which keeps its references and so still names their origin.
//  2. A registry gets them below its sub path and ImagePrefix, under their former path, and Copy rewrites the references.
//     This changes the digest of the component version. Its signatures stay valid: they cover digests of images, not locations.
//  3. Images are read from the source archive before their registries, so that an archive can cross an air gap.
//
// If the component has a digest of an image, Copy copies that digest, whatever the tag names by now. It leaves the same version in the new
// place unchanged; other content is a *ConflictError. It does not copy referenced components.
func Copy(ctx context.Context, from, to Ref, opts CopyOptions) (report CopyReport, err error) {
	opened, err := Open(ctx, from)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if to, err = to.forCopyOf(opened.Ref); err != nil {
		return report, err
	}
	work := &copying{Opened: opened, to: to, opts: opts}
	if opts.Images {
		if err := work.findImages(ctx); err != nil {
			return report, fmt.Errorf("copy %s: %w", opened.Ref, err)
		}
	}
	if to.Registry != nil {
		report, err = work.intoRegistry(ctx)
	} else {
		report, err = work.intoArchive(ctx)
	}
	if err != nil {
		return CopyReport{}, fmt.Errorf("copy %s to %s: %w", opened.Ref, to, err)
	}
	report.Ref, report.Images = to, work.report()
	return report, nil
}

// forCopyOf returns the reference of the copy: a component keeps its name and version.
func (r Ref) forCopyOf(original Ref) (Ref, error) {
	if r.Name != "" && r.Name != original.Name || r.Version != "" && r.Version != original.Version {
		return r, fmt.Errorf("%s cannot become %s: a copy keeps name and version, which are part of what it holds", original, r)
	}
	r.Name, r.Version = original.Name, original.Version
	return r, r.check()
}

// copying is the state of one Copy.
type copying struct {
	*Opened
	to     Ref
	opts   CopyOptions
	images []copiedImage
}

// version returns what is copied: the component version as it is, or with rewritten references.
func (c *copying) version(ctx context.Context) (*descriptor.Document, ocispec.Descriptor, orascontent.ReadOnlyStorage, error) {
	made, err := c.changed(ctx, func(_ context.Context, document *compdesc.ComponentDescriptor) error { return c.relocate(document) })
	if err != nil {
		return nil, ocispec.Descriptor{}, nil, err
	}
	if made == nil {
		return c.document(), c.root(), c.Opened, nil
	}
	return made.Document, made.root, layered{made, c.Opened}, nil
}

// intoRegistry copies into a registry.
func (c *copying) intoRegistry(ctx context.Context) (report CopyReport, err error) {
	for i := range c.images {
		c.images[i].place(*c.to.Registry, c.opts.ImagePrefix)
	}
	document, root, from, err := c.version(ctx)
	if err != nil {
		return report, err
	}
	keep, digest := false, document.Digest
	there, err := c.to.Registry.reader().GetDocument(ctx, c.to.Name, c.to.Version)
	switch {
	case err == nil:
		keep, err = settleCopy(document, there, c.opts.Overwrite)
		if keep {
			digest = there.Digest
		}
	case descriptor.ReasonOf(err) == descriptor.ReasonNotFound:
		err = nil
	case descriptor.ReasonOf(err) == descriptor.ReasonInvalid:
		err = fmt.Errorf("what has its tag must be deleted in the registry first: %w", err)
	}
	if err != nil {
		return report, err
	}
	if err := c.pushImages(ctx); err != nil {
		return report, err
	}
	if keep || c.opts.DryRun {
		return CopyReport{Digest: digest, Changed: !keep}, nil
	}
	if err := c.to.Registry.upload(ctx, from, root, c.to.Name, c.to.Version); err != nil {
		return report, err
	}
	return CopyReport{Digest: digest, Changed: true}, nil
}

// intoArchive copies into an archive. It checks for a conflict before it fetches anything large, and again when it commits.
func (c *copying) intoArchive(ctx context.Context) (report CopyReport, err error) {
	if err := c.ask(ctx); err != nil {
		return report, err
	}
	staged := ctf.Stage(c.to.Path)
	defer func() { err = errors.Join(err, staged.Remove()) }()
	if err := c.stage(ctx, staged); err != nil {
		return report, err
	}
	images := staged.Adds
	staged.Add(path.Join(archiveNamespace, c.to.Name), tagOf(c.to.Version), c.root().Digest)
	report.Digest = c.Component.Digest
	report.Changed, err = staged.Commit(ctx, func(there *ctf.Archive) (bool, error) {
		known, err := c.known(ctx, there)
		if err != nil {
			return false, err
		}
		if known == "" {
			return true, nil
		}
		report.Digest, staged.Adds = known, images
		return !hasArtifacts(there, images), nil
	})
	return report, err
}

// known returns the digest of the version that the archive has and keeps; "" if there is none.
func (c *copying) known(ctx context.Context, there *ctf.Archive) (string, error) {
	if there == nil {
		return "", nil
	}
	entry, ok := there.Find(path.Join(archiveNamespace, c.to.Name), tagOf(c.to.Version))
	if !ok {
		return "", nil
	}
	document, err := readDocument(ctx, there, entry.Digest)
	if err != nil && c.opts.Overwrite {
		return "", nil // what is damaged is what must be replaced
	}
	if err != nil {
		return "", err
	}
	keep, err := settleCopy(c.document(), document, c.opts.Overwrite)
	if !keep {
		return "", err
	}
	return document.Digest, err
}

// ask looks at the archive as it is now, and refuses what it would refuse later.
func (c *copying) ask(ctx context.Context) error {
	there, err := ctf.Existing(c.to.Path)
	if err != nil || there == nil {
		return err
	}
	_, err = c.known(ctx, there)
	return errors.Join(err, there.Close())
}

// stage fetches everything.
func (c *copying) stage(ctx context.Context, staged *ctf.Staging) error {
	for _, image := range c.images {
		if err := oras.CopyGraph(ctx, image.from, staged, image.Descriptor, oras.DefaultCopyGraphOptions); err != nil {
			return fmt.Errorf("image %s: %w", image.was, registryError(err))
		}
		staged.Add(imageRepository(image.was), image.was.Tag, image.Digest)
	}
	if err := oras.CopyGraph(ctx, c.Opened, staged, c.root(), oras.DefaultCopyGraphOptions); err != nil {
		return registryError(err)
	}
	return nil
}

// hasArtifacts reports whether all of these are in the archive.
func hasArtifacts(a *ctf.Archive, all []ctf.Artifact) bool {
	for _, one := range all {
		if entry, ok := a.Find(one.Repository, one.Tag); !ok || entry.Digest != one.Digest {
			return false
		}
	}
	return true
}

// settleCopy decides about a version that is there already as settle does; of the same content with other signatures, the one with more
// of them stays or replaces the other. If both have some that the other lacks, it is a *ConflictError.
func settleCopy(offered, there *descriptor.Document, overwrite bool) (keep bool, err error) {
	if offered.Digest == there.Digest {
		return true, nil
	}
	same, err := settle(offered, there, overwrite)
	if err != nil || !same {
		return false, err
	}
	more, fewer := lacks(there.Component, offered.Component), lacks(offered.Component, there.Component)
	if more && fewer && !overwrite {
		return false, &ConflictError{
			Component: there.Name + ":" + there.Version, Digest: there.Digest, OfferedDigest: offered.Digest,
			Existing: "other signatures", Offered: "others",
		}
	}
	return !more, nil
}
