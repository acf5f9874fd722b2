package component

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

// The Common Transport Format of OCM is a small OCI registry in a directory, or in a tar of it: an index of artifacts, and their blobs.
const (
	indexFile  = "artifact-index.json"
	blobsDir   = "blobs"
	blobPrefix = "sha256."
	// maxIndex and maxArchived bound what is read of a foreign archive before anything of it is used.
	maxIndex    = 16 << 20
	maxArchived = 100_000
)

// artifact is one entry of the index: a manifest of a repository, and its tag if it has one.
type artifact struct {
	Repository string        `json:"repository"`
	Tag        string        `json:"tag,omitempty"`
	Digest     digest.Digest `json:"digest,omitempty"`
}

// archiveIndex is the file artifact-index.json.
type archiveIndex struct {
	SchemaVersion int        `json:"schemaVersion"`
	Artifacts     []artifact `json:"artifacts"`
}

// encode writes the index in one order, whatever order things came in.
func (i archiveIndex) encode() ([]byte, error) {
	i.SchemaVersion = 1
	slices.SortFunc(i.Artifacts, func(a, b artifact) int {
		return cmp.Or(cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Digest, b.Digest))
	})
	i.Artifacts = slices.Compact(i.Artifacts)
	return json.Marshal(i)
}

func decodeIndex(data []byte) (index archiveIndex, err error) {
	if err := json.Unmarshal(data, &index); err != nil {
		return index, fmt.Errorf("its %s is no JSON: %w", indexFile, err)
	}
	if index.SchemaVersion != 1 {
		return index, fmt.Errorf("its %s has schema version %d, and only 1 is read", indexFile, index.SchemaVersion)
	}
	for _, entry := range index.Artifacts {
		if !isSHA256(entry.Digest) {
			return index, fmt.Errorf("its %s lists %s:%s under %q, which is no sha256 digest", indexFile, entry.Repository, entry.Tag, entry.Digest)
		}
	}
	return index, nil
}

func isSHA256(of digest.Digest) bool { return of.Validate() == nil && of.Algorithm() == digest.SHA256 }

// stored is a blob at its place.
type stored interface {
	open() (io.ReadCloser, error)
	size() int64
}

// memoryBlob, fileBlob and sectionBlob are blobs in memory, in a file of their own, and in a part of a tar.
type memoryBlob []byte

func (b memoryBlob) open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
func (b memoryBlob) size() int64                  { return int64(len(b)) }

type fileBlob struct {
	path   string
	length int64
}

func (b fileBlob) open() (io.ReadCloser, error) { return os.Open(b.path) }
func (b fileBlob) size() int64                  { return b.length }

type sectionBlob struct {
	of             io.ReaderAt
	offset, length int64
}

func (b sectionBlob) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(b.of, b.offset, b.length)), nil
}
func (b sectionBlob) size() int64 { return b.length }

// archive is an opened CTF.
type archive struct {
	path  string
	index archiveIndex
	blobs map[digest.Digest]stored
	// close lets go of the file.
	close func() error
}

// find looks for what a tag or a digest names in a repository.
func (a *archive) find(repository, reference string) (artifact, bool) {
	i := slices.IndexFunc(a.index.Artifacts, func(entry artifact) bool {
		return entry.Repository == repository && (entry.Tag == reference || entry.Digest.String() == reference)
	})
	if i < 0 {
		return artifact{}, false
	}
	return a.index.Artifacts[i], true
}

// describe is the descriptor of a manifest that the archive holds.
func (a *archive) describe(of digest.Digest) (found ocispec.Descriptor, data []byte, err error) {
	blob, ok := a.blobs[of]
	if !ok {
		return found, nil, fmt.Errorf("archive %s lists manifest %s and does not hold it: it is damaged", a.path, of)
	}
	data, err = readStored(blob, maxManifest)
	if err != nil {
		return found, nil, fmt.Errorf("archive %s: manifest %s: %w", a.path, of, err)
	}
	if is := digest.FromBytes(data); is != of {
		return found, nil, invalidArchive("archive %s: manifest %s was changed: its content has digest %s: %w",
			a.path, of, is, descriptor.ErrDigestMismatch)
	}
	var head struct {
		MediaType string            `json:"mediaType"`
		Manifests []json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return found, nil, fmt.Errorf("archive %s: manifest %s is no JSON: %w", a.path, of, err)
	}
	mediaType := head.MediaType
	if mediaType == "" {
		mediaType = ocispec.MediaTypeImageManifest
		if head.Manifests != nil {
			mediaType = ocispec.MediaTypeImageIndex
		}
	}
	return ocispec.Descriptor{MediaType: mediaType, Digest: of, Size: blob.size()}, data, nil
}

func readStored(blob stored, limit int64) (data []byte, err error) {
	if blob.size() > limit {
		return nil, fmt.Errorf("it has %d bytes and %d are accepted", blob.size(), limit)
	}
	file, err := blob.open()
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(file, limit+1))
	return data, errors.Join(err, file.Close())
}

// archiveForm is a form of a CTF.
type archiveForm string

const (
	formDirectory archiveForm = "directory"
	formTar       archiveForm = "tar"
	formTarGzip   archiveForm = "tgz"
)

// formOf tells by the ending of a path which form is meant.
func formOf(path string) archiveForm {
	switch lower := strings.ToLower(filepath.Base(path)); {
	case strings.HasSuffix(lower, ".tar"):
		return formTar
	case strings.HasSuffix(lower, ".tgz"), strings.HasSuffix(lower, ".tar.gz"):
		return formTarGzip
	default:
		return formDirectory
	}
}

// blobName is the name of a blob's file.
func blobName(of digest.Digest) string { return blobPrefix + of.Encoded() }

// digestOfFile is the digest that the name of a blob's file says.
func digestOfFile(name string) (digest.Digest, bool) {
	encoded, ok := strings.CutPrefix(name, blobPrefix)
	of := digest.NewDigestFromEncoded(digest.SHA256, encoded)
	return of, ok && isSHA256(of)
}
