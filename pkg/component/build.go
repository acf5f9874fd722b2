package component

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/opencontainers/go-digest"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
)

// Build writes a component version into an archive, and returns the digest of its manifest, which equals the digest that Push returns for
// the same version. The archive is a directory, or a file if its name ends in .tar, .tgz or .tar.gz. Builds are reproducible: the same
// versions give the same archive, byte for byte. Other versions in an existing archive stay; other content under the same version is
// refused with a *ConflictError, unless Overwrite is among the options.
func Build(ctx context.Context, path string, version Version, options ...Option) (_ string, err error) {
	version, err = version.complete()
	if err != nil {
		return "", err
	}
	made, err := version.pack(nil)
	if err != nil {
		return "", err
	}
	signed := made
	if version.Signer != nil {
		sign := func(document *compdesc.ComponentDescriptor) error {
			return version.Signer.seal(ctx, document, version.Access.imageDigest)
		}
		if signed, err = version.pack(sign); err != nil {
			return "", fmt.Errorf("sign component %s: %w", version.id(), err)
		}
	}
	known, err := version.shelve(ctx, path, made, signed, slices.Contains(options, Overwrite))
	if err != nil {
		return "", fmt.Errorf("build component %s: %w", version.id(), err)
	}
	if known != "" && version.Signer != nil {
		return SignRef(ctx, Ref{Path: path, Name: version.Name, Version: version.Version, Access: version.Access}, version.Signer)
	}
	if known != "" {
		return known, nil
	}
	return signed.Digest, nil
}

// shelve puts the signed version into an archive. It returns the digest of the manifest that the archive already has for the same content.
func (v Version) shelve(ctx context.Context, file string, made, signed *packed, overwrite bool) (known string, err error) {
	staged := ctf.Stage(file)
	defer func() { err = errors.Join(err, staged.Remove()) }()
	signed.stage(staged)
	repository, tag := path.Join(archiveNamespace, v.Name), tagOf(v.Version)
	staged.Add(repository, tag, signed.root.Digest)
	_, err = staged.Commit(ctx, func(there *ctf.Archive) (bool, error) {
		if there == nil {
			return true, nil
		}
		entry, ok := there.Find(repository, tag)
		if !ok {
			return true, nil
		}
		document, err := readDocument(ctx, there, entry.Digest)
		if err != nil && overwrite {
			return true, nil // what is damaged is what must be replaced
		}
		if err != nil {
			return false, err
		}
		same, err := settle(made.Document, document, overwrite)
		if !same || err != nil {
			return err == nil, err
		}
		known, staged.Adds = document.Digest, nil // with what signatures it has
		return !holdsVersion(there, made), nil
	})
	return known, err
}

// holdsVersion reports whether an archive has the content of a version, undamaged. Its descriptor was read before.
func holdsVersion(a *ctf.Archive, made *packed) bool {
	for _, resource := range made.Resources {
		if resource.Access.LocalReference == "" {
			continue
		}
		blob, ok := a.Blobs[digest.Digest(resource.Access.LocalReference)]
		if !ok {
			return false
		}
		content, err := blob.Open()
		if err != nil {
			return false
		}
		of, err := digest.SHA256.FromReader(content)
		if err := errors.Join(err, content.Close()); err != nil || of.String() != resource.Access.LocalReference {
			return false
		}
	}
	return true
}
