package communitycatalog

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	orascontent "oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	// ArtifactType is the type of a catalog in a registry.
	ArtifactType = "application/vnd.kyma-project.module-catalog.v1"
	// maxManifest is the largest manifest that registries accept.
	maxManifest = 4 << 20
	// maxLayers is more than any catalog has.
	maxLayers = 16
	// annotationSignature is where cosign stores a signature: on the layer with the signed text.
	annotationSignature = "dev.cosignproject.cosign/signature"
)

// registryRepository is one repository of a registry.
type registryRepository struct {
	*remote.Repository
	image content.Image
	where string
}

// openRegistry returns the repository of an image, and a function that closes its connections.
func openRegistry(image content.Image, limits Limits) (*registryRepository, func(), error) {
	transport := guarded(limits.AllowPrivate)
	registries := limits.Registries
	registries.Transport = transport
	repository, err := remote.NewRepository(image.Registry + "/" + image.Repository)
	if err != nil {
		return nil, nil, invalid("%s: %w", image, err)
	}
	repository.Client = registries.Client()
	endpoints, err := registries.Endpoints(image.Registry, image.Repository)
	if err != nil {
		return nil, nil, err
	}
	repository.PlainHTTP = endpoints[len(endpoints)-1].PlainHTTP // the last one is the registry itself
	return &registryRepository{repository, image, "oci://" + image.String()}, transport.CloseIdleConnections, nil
}

// ofRegistry returns the catalog in an artifact.
func ofRegistry(ctx context.Context, source Source, key crypto.PublicKey, limits Limits) (fetched, error) {
	image, err := content.ParseImage(strings.TrimPrefix(source.URL, "oci://"))
	if err != nil {
		return fetched{}, err
	}
	from, done, err := openRegistry(image, limits)
	if err != nil {
		return fetched{}, err
	}
	defer done()
	described, err := from.Resolve(ctx, cmp.Or(image.Digest, image.Tag))
	if err != nil {
		return fetched{}, explainedAnswer(from.where, err)
	}
	got := fetched{digest: described.Digest.String()}
	if err := source.expect(got.digest); err != nil {
		return got, err
	}
	if key != nil {
		if err := from.signed(ctx, got.digest, key); err != nil {
			return got, err
		}
	}
	manifest, err := from.manifest(ctx, described)
	if err != nil {
		return got, err
	}
	got.data, err = from.catalog(ctx, manifest, limits.bytes())
	return got, err
}

// manifest reads a manifest, verified by its digest.
func (a *registryRepository) manifest(ctx context.Context, described ocispec.Descriptor) (ocispec.Manifest, error) {
	var manifest ocispec.Manifest
	if described.Size > maxManifest {
		return manifest, fail(content.ReasonContentTooLarge, "%s: its manifest has %d bytes", a.where, described.Size)
	}
	data, err := orascontent.FetchAll(ctx, a, described)
	if err != nil {
		return manifest, explainedAnswer(a.where, err)
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return manifest, fail(content.ReasonContentInvalid, "%s: its manifest is no JSON", a.where)
	}
	switch {
	case len(manifest.Layers) == 0:
		return manifest, fail(content.ReasonContentInvalid,
			"%s is no artifact with layers (an index, perhaps): push %s itself", a.where, FileYAML)
	case len(manifest.Layers) > maxLayers:
		return manifest, fail(content.ReasonContentTooLarge, "%s has %d layers and %d are accepted", a.where, len(manifest.Layers), maxLayers)
	}
	return manifest, nil
}

// catalog returns the file in an artifact:
//
//  1. the layer with the title all-modules.yaml or all-modules.json, as `oras push` sets it,
//  2. or else the only layer: the file itself, or a tar archive with one of the two files.
func (a *registryRepository) catalog(ctx context.Context, manifest ocispec.Manifest, most int64) ([]byte, error) {
	layer := manifest.Layers[0]
	for _, name := range []string{FileJSON, FileYAML} {
		if i := slices.IndexFunc(manifest.Layers, func(l ocispec.Descriptor) bool {
			return l.Annotations[ocispec.AnnotationTitle] == name
		}); i >= 0 {
			return a.layer(ctx, manifest.Layers[i], most)
		}
	}
	if len(manifest.Layers) > 1 {
		return nil, fail(content.ReasonContentInvalid, "%s has %d layers, and none is called %s: push one file", a.where, len(manifest.Layers),
			FileYAML)
	}
	data, err := a.layer(ctx, layer, most)
	if err != nil || !isArchive(data) {
		return data, err
	}
	data, err = unpacked(layer.Digest.String(), data, most)
	if err != nil {
		return nil, explained(a.where, err)
	}
	return data, nil
}

// layer reads a layer, verified by its digest.
func (a *registryRepository) layer(ctx context.Context, layer ocispec.Descriptor, most int64) ([]byte, error) {
	if layer.Size > most || layer.Size < 0 {
		return nil, fail(content.ReasonContentTooLarge, "%s: a layer of it has %d bytes and %d are accepted", a.where, layer.Size, most)
	}
	data, err := orascontent.FetchAll(ctx, a.Blobs(), layer)
	if errors.Is(err, orascontent.ErrMismatchedDigest) || errors.Is(err, orascontent.ErrTrailingData) {
		return nil, fail(content.ReasonDigestMismatch, "%s: the registry serves another layer than the manifest names", a.where)
	}
	if err != nil {
		return nil, explainedAnswer(a.where, err)
	}
	return data, nil
}

// isArchive reports whether data is gzip or begins with a tar header.
func isArchive(data []byte) bool {
	const mark, at = "ustar", 257
	gzipped := len(data) > 1 && data[0] == 0x1f && data[1] == 0x8b
	return gzipped || len(data) > at+len(mark) && string(data[at:at+len(mark)]) == mark
}

// unpacked returns the catalog in an archive or a compressed file.
func unpacked(digest string, data []byte, most int64) (text []byte, err error) {
	dir, err := os.MkdirTemp("", "kyma-catalog-")
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	limits := content.Limits{Packed: most, Unpacked: most}
	store := &content.Store{Dir: dir, Limits: limits}
	path, err := store.Put(digest, int64(len(data)), strings.NewReader(string(data)))
	if err != nil {
		return nil, err
	}
	tree, err := content.Unpack(path, limits)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{FileJSON, FileYAML} {
		if found, ok := tree.File(name); ok {
			return found, nil
		}
	}
	return nil, fail(content.ReasonContentInvalid, "there is neither %s nor %s in the archive", FileYAML, FileJSON)
}

// signed looks for a signature that cosign stored beside an artifact, with a tag derived from the digest: any layer that is valid for this
// repository suffices. A signature of the same key for another repository does not count for this one.
func (a *registryRepository) signed(ctx context.Context, digest string, key crypto.PublicKey) error {
	tag := signatureTag(digest)
	described, err := a.Resolve(ctx, tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return signatureMissing("%s has no signature: the registry has no tag %s beside it; cosign sign makes one", a.where, tag)
	case err != nil:
		return explainedAnswer(a.where, err)
	}
	manifest, err := a.manifest(ctx, described)
	if err != nil {
		return err
	}
	elsewhere := ""
	for _, layer := range manifest.Layers {
		text, err := a.layer(ctx, layer, maxSignature)
		if err != nil {
			return err
		}
		identity, is := states(text, digest)
		switch {
		case !is || !verified(key, text, []byte(layer.Annotations[annotationSignature])):
		case identifies(identity, a.image, digest):
			return nil
		default:
			elsewhere = identity
		}
	}
	if elsewhere != "" {
		return unsigned("%s has a signature by that key that was made for %s: sign it for this repository, or a copy by "+
			"cosign sign --sign-container-identity %s/%s", a.where, short(elsewhere), a.image.Registry, a.image.Repository)
	}
	return unsigned("%s has no signature by that key: it was changed, or another key signed it", a.where)
}
