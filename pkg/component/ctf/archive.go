package ctf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// OCM's Common Transport Format (CTF) is a small OCI registry in a directory, or in a tar of it: an index of artifacts, and their blobs.
const (
	indexFile  = "artifact-index.json"
	blobsDir   = "blobs"
	blobPrefix = "sha256."
	// maxIndex and maxArchived limit how much of a foreign archive is read before anything of it is used.
	maxIndex    = 16 << 20
	maxArchived = 100_000
	// maxArchivedManifest is what registries accept as a manifest.
	maxArchivedManifest = 4 << 20
)

// Artifact is one entry of the index: a manifest of a repository, and its tag if it has one.
type Artifact struct {
	Repository string        `json:"repository"`
	Tag        string        `json:"tag,omitempty"`
	Digest     digest.Digest `json:"digest,omitempty"`
}

// Index is the file artifact-index.json.
type Index struct {
	SchemaVersion int        `json:"schemaVersion"`
	Artifacts     []Artifact `json:"artifacts"`
}

// encode writes the index in a fixed order.
func (i Index) encode() ([]byte, error) {
	i.SchemaVersion = 1
	slices.SortFunc(i.Artifacts, func(a, b Artifact) int {
		return cmp.Or(cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Digest, b.Digest))
	})
	i.Artifacts = slices.Compact(i.Artifacts)
	return json.Marshal(i)
}

func decodeIndex(data []byte) (index Index, err error) {
	if err := json.Unmarshal(data, &index); err != nil {
		return index, fmt.Errorf("its %s is no JSON: %w", indexFile, err)
	}
	if index.SchemaVersion != 1 {
		return index, fmt.Errorf("its %s has schema version %d, and only 1 is read", indexFile, index.SchemaVersion)
	}
	for _, entry := range index.Artifacts {
		if !IsSHA256(entry.Digest) {
			return index, fmt.Errorf("its %s lists %s:%s under %q, which is no sha256 digest", indexFile, entry.Repository, entry.Tag, entry.Digest)
		}
	}
	return index, nil
}

// IsSHA256 reports whether a digest is a valid one of SHA-256, the only kind in archives.
func IsSHA256(of digest.Digest) bool { return of.Validate() == nil && of.Algorithm() == digest.SHA256 }

// Blob is a blob in one of its storage forms.
type Blob interface {
	// Open returns the content.
	Open() (io.ReadCloser, error)
	// Size returns the length in bytes.
	Size() int64
}

// MemoryBlob is a blob in memory, fileBlob one in its own file, and sectionBlob one in a part of a tar.
type MemoryBlob []byte

// Open implements Blob.
func (b MemoryBlob) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// Size implements Blob.
func (b MemoryBlob) Size() int64 { return int64(len(b)) }

type fileBlob struct {
	path   string
	length int64
}

// Open implements Blob.
func (b fileBlob) Open() (io.ReadCloser, error) { return os.Open(b.path) }

// Size implements Blob.
func (b fileBlob) Size() int64 { return b.length }

type sectionBlob struct {
	of             io.ReaderAt
	offset, length int64
}

// Open implements Blob.
func (b sectionBlob) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(b.of, b.offset, b.length)), nil
}

// Size implements Blob.
func (b sectionBlob) Size() int64 { return b.length }

// Archive is an opened CTF.
type Archive struct {
	Path  string
	Index Index
	Blobs map[digest.Digest]Blob
	// Layout is set for an OCI image layout, which is only read here.
	Layout bool
	// Close closes the archive's file.
	Close func() error
}

// Find returns the entry that a tag or a digest names in a repository.
func (a *Archive) Find(repository, reference string) (Artifact, bool) {
	i := slices.IndexFunc(a.Index.Artifacts, func(entry Artifact) bool {
		return entry.Repository == repository && (entry.Tag == reference || entry.Digest.String() == reference)
	})
	if i < 0 {
		return Artifact{}, false
	}
	return a.Index.Artifacts[i], true
}

// Describe returns the OCI descriptor and the bytes of a manifest in the archive.
func (a *Archive) Describe(of digest.Digest) (found ocispec.Descriptor, data []byte, err error) {
	blob, ok := a.Blobs[of]
	if !ok {
		return found, nil, fmt.Errorf("archive %s lists manifest %s and does not hold it: it is damaged", a.Path, of)
	}
	data, err = readBlob(blob, maxArchivedManifest)
	if err != nil {
		return found, nil, fmt.Errorf("archive %s: manifest %s: %w", a.Path, of, err)
	}
	if is := digest.FromBytes(data); is != of {
		return found, nil, invalidFormat("archive %s: manifest %s was changed: its content has digest %s: %w",
			a.Path, of, is, descriptor.ErrDigestMismatch)
	}
	var head struct {
		MediaType string            `json:"mediaType"`
		Manifests []json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return found, nil, fmt.Errorf("archive %s: manifest %s is no JSON: %w", a.Path, of, err)
	}
	mediaType := head.MediaType
	if mediaType == "" {
		mediaType = ocispec.MediaTypeImageManifest
		if head.Manifests != nil {
			mediaType = ocispec.MediaTypeImageIndex
		}
	}
	return ocispec.Descriptor{MediaType: mediaType, Digest: of, Size: blob.Size()}, data, nil
}

func readBlob(blob Blob, limit int64) (data []byte, err error) {
	if blob.Size() > limit {
		return nil, fmt.Errorf("it has %d bytes and %d are accepted", blob.Size(), limit)
	}
	file, err := blob.Open()
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(file, limit+1))
	return data, errors.Join(err, file.Close())
}

// Form is a form of a CTF.
type Form string

const (
	formDirectory Form = "directory"
	formTar       Form = "tar"
	formTarGzip   Form = "tgz"
)

// formOf returns the form that the ending of a path stands for.
func formOf(path string) Form {
	switch lower := strings.ToLower(filepath.Base(path)); {
	case strings.HasSuffix(lower, ".tar"):
		return formTar
	case strings.HasSuffix(lower, ".tgz"), strings.HasSuffix(lower, ".tar.gz"):
		return formTarGzip
	default:
		return formDirectory
	}
}

// blobName returns the name of a blob's file.
func blobName(of digest.Digest) string { return blobPrefix + of.Encoded() }

// digestOfFile returns the digest in the name of a blob's file.
func digestOfFile(name string) (digest.Digest, bool) {
	encoded, ok := strings.CutPrefix(name, blobPrefix)
	of := digest.NewDigestFromEncoded(digest.SHA256, encoded)
	return of, ok && IsSHA256(of)
}

func invalidFormat(format string, args ...any) error {
	return &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: fmt.Errorf(format, args...)}
}
