package component

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// archiveNamespace is the path that OCM puts before component names in archives.
const archiveNamespace = "component-descriptors"

// Opened is an opened component version. The caller must close it.
type Opened struct {
	// Ref is its reference, with name and version filled in.
	Ref Ref
	// Component is the content of its descriptor.
	Component *descriptor.Component
	// Text is the descriptor as stored, and Manifest the OCI manifest, whose digest is Component.Digest.
	Text, Manifest []byte

	manifest ocispec.Manifest
	session  *session
	// archive is nil for a component version in a registry.
	archive *ctf.Archive
	// places are where its layers can be read, in the order in which they are tried.
	places []content.ReadOnlyStorage
}

// Open reads a component version of a registry or an archive: its manifest and its descriptor, each verified by its digest. The error is a
// *descriptor.Error with a reason, unless ctx was cancelled or the reference is invalid.
func Open(ctx context.Context, ref Ref) (*Opened, error) {
	if err := ref.check(); err != nil {
		return nil, err
	}
	if ref.Registry != nil {
		return openRemote(ctx, ref)
	}
	found, err := ctf.Open(ref.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &descriptor.Error{Reason: descriptor.ReasonNotFound, Err: fmt.Errorf(
			"there is no archive %s: the address of a registry begins with oci://, https:// or http://", ref.Path)}
	}
	if err != nil {
		return nil, &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: err}
	}
	opened, err := openArchived(ctx, ref, found)
	if err != nil {
		return nil, errors.Join(err, found.Close())
	}
	return opened, nil
}

func openRemote(ctx context.Context, ref Ref) (*Opened, error) {
	document, err := ref.Registry.reader().GetDocument(ctx, ref.Name, ref.Version)
	if err != nil {
		return nil, err
	}
	where, _, err := descriptor.Locate(ref.Registry.SubPath, ref.Registry.Mapping, ref.Name, ref.Version)
	if err != nil {
		return nil, err
	}
	opened := &Opened{Ref: ref, session: ref.access().session()}
	repositories, err := opened.session.repositories(ref.Registry.Host, where)
	if err != nil {
		return nil, err
	}
	for _, repository := range repositories {
		opened.places = append(opened.places, repository)
	}
	return opened, opened.adopt(document)
}

func openArchived(ctx context.Context, ref Ref, from *ctf.Archive) (*Opened, error) {
	entry, err := chooseVersion(from, ref)
	if err != nil {
		return nil, err
	}
	document, err := readDocument(ctx, from, entry.Digest)
	if err != nil {
		return nil, err
	}
	if name := path.Join(archiveNamespace, document.Name); name != entry.Repository || tagOf(document.Version) != entry.Tag {
		return nil, invalidArchive("archive %s lists component %s:%s as %s:%s",
			ref.Path, document.Name, document.Version, entry.Repository, entry.Tag)
	}
	ref.Name, ref.Version = document.Name, document.Version
	opened := &Opened{Ref: ref, session: ref.access().session(), archive: from, places: []content.ReadOnlyStorage{ctf.Storage{Archive: from}}}
	return opened, opened.adopt(document)
}

// readDocument reads the component version with the given manifest.
func readDocument(ctx context.Context, a *ctf.Archive, of digest.Digest) (*descriptor.Document, error) {
	_, data, err := a.Describe(of)
	if err != nil {
		return nil, &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: err}
	}
	document, err := descriptor.ReadManifest(ctx, ctf.Storage{Archive: a}, data, 0)
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", a.Path, err)
	}
	return document, nil
}

// chooseVersion returns the index entry that a reference names; without name or version, the only entry.
func chooseVersion(a *ctf.Archive, ref Ref) (ctf.Artifact, error) {
	var found, others []string
	var chosen ctf.Artifact
	for _, entry := range a.Index.Artifacts {
		name, ok := strings.CutPrefix(entry.Repository, archiveNamespace+"/")
		if !ok || entry.Tag == "" {
			continue
		}
		version := name + ":" + strings.ReplaceAll(entry.Tag, ".build-", "+")
		if ref.Name != "" && ref.Name != name || ref.Version != "" && tagOf(ref.Version) != entry.Tag {
			others = append(others, version)
			continue
		}
		found, chosen = append(found, version), entry
	}
	slices.Sort(found)
	slices.Sort(others)
	switch {
	case len(found) == 1:
		return chosen, nil
	case len(found) > 1:
		return ctf.Artifact{}, invalidArchive("archive %s has several component versions, choose one by //name:version: %s",
			a.Path, strings.Join(found, ", "))
	case len(others) > 0:
		return ctf.Artifact{}, &descriptor.Error{Reason: descriptor.ReasonNotFound, Err: fmt.Errorf("archive %s has no component %s:%s, but %s",
			a.Path, ref.Name, ref.Version, strings.Join(others, ", "))}
	default:
		return ctf.Artifact{}, &descriptor.Error{
			Reason: descriptor.ReasonNotFound, Err: fmt.Errorf("archive %s has no component version", a.Path),
		}
	}
}

func invalidArchive(format string, args ...any) error {
	return &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: fmt.Errorf(format, args...)}
}

// tagOf returns the tag of a version, in registries and archives alike.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", ".build-") }

func (o *Opened) adopt(document *descriptor.Document) error {
	o.Component, o.Text, o.Manifest = document.Component, document.Text, document.Manifest
	if err := json.Unmarshal(document.Manifest, &o.manifest); err != nil {
		return fmt.Errorf("read manifest of %s: %w", o.Ref, err)
	}
	return nil
}

// Close closes the archive.
func (o *Opened) Close() error {
	if o.archive == nil {
		return nil
	}
	return o.archive.Close()
}

// root returns the OCI descriptor of the manifest.
func (o *Opened) root() ocispec.Descriptor {
	mediaType := o.manifest.MediaType
	if mediaType == "" {
		mediaType = ocispec.MediaTypeImageManifest
	}
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(o.Manifest), Size: int64(len(o.Manifest))}
}

// Blob returns a reader of a resource that is stored in the component version, and its media type. Reading fails at the end if the bytes do
// not match the digest (descriptor.ErrDigestMismatch).
func (o *Opened) Blob(ctx context.Context, resource string) (blob io.ReadCloser, mediaType string, err error) {
	layer, mediaType, _, err := o.Component.Layer(resource)
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(o.manifest.Layers, func(known ocispec.Descriptor) bool { return known.Digest.String() == layer })
	if i < 0 {
		return nil, "", invalidArchive("resource %s of %s is layer %s, which its manifest does not list", resource, o.Ref, layer)
	}
	blob, err = o.Fetch(ctx, o.manifest.Layers[i])
	if err != nil {
		return nil, "", fmt.Errorf("resource %s of %s: %w", resource, o.Ref, err)
	}
	return verifying(blob, o.manifest.Layers[i]), mediaType, nil
}

// Fetch opens a blob or the manifest of the component version; it implements oras's content.Fetcher.
func (o *Opened) Fetch(ctx context.Context, wanted ocispec.Descriptor) (blob io.ReadCloser, err error) {
	if wanted.Digest == o.root().Digest {
		return ctf.MemoryBlob(o.Manifest).Open()
	}
	for _, place := range o.places {
		if blob, err = place.Fetch(ctx, wanted); err == nil {
			return blob, nil
		}
	}
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return nil, &descriptor.Error{Reason: descriptor.ReasonNotFound, Err: err}
	case err != nil && strings.Contains(err.Error(), "mismatch Content-Length"): // for which oras has no error value
		return nil, &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: fmt.Errorf("%w: %w", descriptor.ErrDigestMismatch, err)}
	default:
		return nil, registryError(err)
	}
}

// Exists reports whether a blob is there.
func (o *Opened) Exists(ctx context.Context, wanted ocispec.Descriptor) (found bool, err error) {
	if wanted.Digest == o.root().Digest {
		return true, nil
	}
	for _, place := range o.places {
		if found, err = place.Exists(ctx, wanted); err == nil && found {
			return true, nil
		}
	}
	return false, err
}

// verified reads a blob and fails at its end if the digest or the size differs.
type verified struct {
	*content.VerifyReader
	io.Closer
}

func verifying(blob io.ReadCloser, expected ocispec.Descriptor) io.ReadCloser {
	return verified{content.NewVerifyReader(blob, expected), blob}
}

// Read reads, and verifies at the end.
func (v verified) Read(p []byte) (int, error) {
	n, err := v.VerifyReader.Read(p)
	if errors.Is(err, io.EOF) {
		if wrong := v.Verify(); wrong != nil {
			return n, &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: fmt.Errorf("%w: %w", descriptor.ErrDigestMismatch, wrong)}
		}
	}
	return n, err
}
