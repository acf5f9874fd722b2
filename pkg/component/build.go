package component

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/opencontainers/go-digest"
)

// Build writes a component version into an archive, and returns the digest of its manifest, which is the one that Push gives the same
// version. The archive is a directory, or a file when its name ends in .tar, .tgz or .tar.gz. The same versions give the same archive, byte
// for byte, wherever, whenever and by whomever they are built. Other versions in an archive that exists stay; other content under the same
// version is refused with a *ConflictError, unless Overwrite is among the options.
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

// shelve puts the signed version into an archive. known is the digest of the manifest that is there already with the same content.
func (v Version) shelve(ctx context.Context, file string, made, signed *packed, overwrite bool) (known string, err error) {
	staged := stage(file)
	defer func() { err = errors.Join(err, staged.remove()) }()
	staged.put(signed)
	repository, tag := path.Join(archiveNamespace, v.Name), tagOf(v.Version)
	staged.add(repository, tag, signed.root.Digest)
	_, err = staged.commit(ctx, func(there *archive) (bool, error) {
		if there == nil {
			return true, nil
		}
		entry, ok := there.find(repository, tag)
		if !ok {
			return true, nil
		}
		document, err := there.document(ctx, entry.Digest)
		if err != nil && overwrite {
			return true, nil // what is damaged is what has to be replaced
		}
		if err != nil {
			return false, err
		}
		same, err := settle(made.Document, document, overwrite)
		if !same || err != nil {
			return err == nil, err
		}
		known, staged.adds = document.Digest, nil // with what signatures it has
		return !there.holds(made), nil
	})
	return known, err
}

// holds tells whether an archive has the content of a version, undamaged. Its descriptor was read before.
func (a *archive) holds(made *packed) bool {
	for _, resource := range made.Resources {
		if resource.Access.LocalReference == "" {
			continue
		}
		blob, ok := a.blobs[digest.Digest(resource.Access.LocalReference)]
		if !ok {
			return false
		}
		content, err := blob.open()
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
