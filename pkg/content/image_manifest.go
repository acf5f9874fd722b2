package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	// maxManifest is the size of a manifest or an index that registries accept, in bytes.
	maxManifest = 4 << 20
	// maxLayers is more than any content needs; builders are limited to 127.
	maxLayers = 64

	mediaTypeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	mediaTypeDockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	schemaVersion           = 2
	unknownPlatform         = "unknown"
)

// manifestTypes are the supported media types of manifests.
var manifestTypes = []string{
	ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex, mediaTypeDockerManifest, mediaTypeDockerList,
}

// document is a manifest or an index.
type document struct {
	SchemaVersion int                  `json:"schemaVersion"`
	MediaType     string               `json:"mediaType"`
	Manifests     []ocispec.Descriptor `json:"manifests"`
	Layers        []ocispec.Descriptor `json:"layers"`
}

// manifest reads the manifest that ref names: for an index, the one for this platform.
func (o *OCI) manifest(ctx context.Context, ref Reference) (document, error) {
	found, err := o.document(ctx, ref, -1)
	if err != nil || len(found.Manifests) == 0 {
		return found, err
	}
	entry, err := pick(found.Manifests, runtime.GOARCH)
	if err != nil {
		return document{}, fmt.Errorf("index %s: %w", ref, err)
	}
	of := Reference{Registry: ref.Registry, Repository: ref.Repository, Digest: entry.Digest.String()}
	if _, err := digestHex(of.Digest); err != nil {
		return document{}, invalid("index %s lists a manifest under %s, which is no sha256 digest", ref, Quote(of.Digest))
	}
	inner, err := o.document(ctx, of, entry.Size)
	if err == nil && len(inner.Manifests) > 0 {
		err = invalid("index %s lists another index, which is not followed", ref)
	}
	return inner, err
}

// document reads one manifest or index of exactly size bytes; -1 means that the size is unknown.
func (o *OCI) document(ctx context.Context, ref Reference, size int64) (document, error) {
	path, err := o.stored(ctx, manifests, ref)
	if err != nil {
		return document{}, err
	}
	data, err := readManifest(path, size)
	if err != nil {
		return document{}, fmt.Errorf("manifest %s: %w", ref, err)
	}
	found, err := parseDocument(data)
	if err != nil {
		return document{}, fmt.Errorf("manifest %s: %w", ref, err)
	}
	return found, nil
}

// readManifest reads a file of the store, which may not be a manifest although its digest was given as one.
func readManifest(path string, size int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read content: %w", err)
	}
	if len(data) > maxManifest {
		return nil, manifestTooLarge()
	}
	if size >= 0 && int64(len(data)) != size {
		return nil, mismatch("it has %d bytes, not %d as in the index: publish the index again", len(data), size)
	}
	return data, nil
}

// parseDocument decides between manifest and index, and refuses what different readers could take for either.
func parseDocument(data []byte) (document, error) {
	var found document
	if err := json.Unmarshal(data, &found); err != nil {
		return document{}, invalid("it is no JSON object of an image: %w", err)
	}
	isIndex := found.MediaType == ocispec.MediaTypeImageIndex || found.MediaType == mediaTypeDockerList
	switch {
	case found.SchemaVersion != schemaVersion:
		return document{}, invalid("it has schema version %d, and only %d is read: push the image again with a current tool",
			found.SchemaVersion, schemaVersion)
	case found.MediaType != "" && !slices.Contains(manifestTypes, found.MediaType):
		return document{}, invalid("it has media type %s, which is neither manifest nor index", Quote(found.MediaType))
	case found.Manifests != nil && found.Layers != nil:
		return document{}, invalid("it lists layers and manifests, and can only be one of manifest and index")
	case isIndex && found.Layers != nil, found.MediaType != "" && !isIndex && found.Manifests != nil:
		return document{}, invalid("its content does not match its media type %s", Quote(found.MediaType))
	case len(found.Manifests) == 0 && (isIndex || found.Manifests != nil):
		return document{}, invalid("it is an index without an entry: push the image again")
	default:
		return found, nil
	}
}

// pick chooses an entry of an index. Content is the same on every platform; if an index has platforms nevertheless, in this order:
//
//  1. linux on the given architecture,
//  2. linux on amd64,
//  3. the first that is not an attestation, which builders list with an unknown platform.
func pick(entries []ocispec.Descriptor, architecture string) (ocispec.Descriptor, error) {
	for _, arch := range []string{architecture, "amd64"} {
		for _, entry := range entries {
			if entry.Platform != nil && entry.Platform.OS == "linux" && entry.Platform.Architecture == arch {
				return entry, nil
			}
		}
	}
	for _, entry := range entries {
		if !isAttestation(entry) {
			return entry, nil
		}
	}
	return ocispec.Descriptor{}, invalid("it has nothing but attestations: push the image itself")
}

func isAttestation(entry ocispec.Descriptor) bool {
	return entry.Annotations["vnd.docker.reference.type"] != "" ||
		entry.Platform != nil && entry.Platform.OS == unknownPlatform && entry.Platform.Architecture == unknownPlatform
}

// manifestReader returns an error after the maximum size of a manifest.
type manifestReader struct {
	source io.Reader
	count  int
}

func (m *manifestReader) Read(p []byte) (int, error) {
	n, err := m.source.Read(p)
	if m.count += n; m.count > maxManifest {
		return 0, manifestTooLarge()
	}
	return n, err
}

func manifestTooLarge() error {
	return tooLarge("it is larger than the %d bytes that a manifest may have", maxManifest)
}
