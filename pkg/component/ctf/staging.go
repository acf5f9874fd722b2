package ctf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Storage makes an archive readable by oras. The repositories of an archive share their blobs.
type Storage struct{ *Archive }

// Fetch opens a blob of the requested size. The reader must verify the digest.
func (s Storage) Fetch(_ context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	blob, ok := s.Blobs[wanted.Digest]
	if !ok {
		return nil, fmt.Errorf("archive %s: blob %s: %w", s.Path, wanted.Digest, errdef.ErrNotFound)
	}
	if wanted.Size != blob.Size() {
		return nil, invalidFormat("archive %s: blob %s has %d bytes instead of %d: %w",
			s.Path, wanted.Digest, blob.Size(), wanted.Size, descriptor.ErrDigestMismatch)
	}
	return blob.Open()
}

// Exists reports whether the archive holds a blob.
func (s Storage) Exists(_ context.Context, wanted ocispec.Descriptor) (bool, error) {
	_, ok := s.Blobs[wanted.Digest]
	return ok, nil
}

// Predecessors returns the manifests of the archive that refer to another one as their subject, such as its signatures.
func (s Storage) Predecessors(_ context.Context, node ocispec.Descriptor) (referrers []ocispec.Descriptor, err error) {
	seen := map[digest.Digest]bool{}
	for _, entry := range s.Index.Artifacts {
		if seen[entry.Digest] {
			continue
		}
		seen[entry.Digest] = true
		described, data, err := s.Describe(entry.Digest)
		if err != nil {
			return nil, err
		}
		var head struct {
			Subject *ocispec.Descriptor `json:"subject"`
		}
		if err := json.Unmarshal(data, &head); err == nil && head.Subject != nil && head.Subject.Digest == node.Digest {
			referrers = append(referrers, described)
		}
	}
	return referrers, nil
}

// Staging holds what will go into an archive. It is beside the archive until commit, so that its files can be renamed.
type Staging struct {
	target string

	mu    sync.Mutex
	dir   string
	blobs map[digest.Digest]Blob
	// Adds are the manifests that were added.
	Adds []Artifact
}

// Stage returns an empty Staging for the archive at a path.
func Stage(target string) *Staging {
	return &Staging{target: target, blobs: map[digest.Digest]Blob{}}
}

// Remove deletes what was not moved into the archive.
func (s *Staging) Remove() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Add records a manifest of a repository, with a tag unless that is empty.
func (s *Staging) Add(repository, tag string, of digest.Digest) {
	s.Adds = append(s.Adds, Artifact{Repository: repository, Tag: tag, Digest: of})
}

// Put adds a packed version without copying its bytes.
func (s *Staging) Put(of digest.Digest, data []byte) { s.blobs[of] = MemoryBlob(data) }

// Fetch opens a staged blob.
func (s *Staging) Fetch(_ context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	blob, ok := s.blobs[wanted.Digest]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", wanted.Digest, errdef.ErrNotFound)
	}
	return blob.Open()
}

// Exists reports whether a blob is staged.
func (s *Staging) Exists(_ context.Context, wanted ocispec.Descriptor) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.blobs[wanted.Digest]
	return ok, nil
}

// inMemory is the size up to which a blob is kept in memory: most manifests and configs are small.
const inMemory = 64 << 10

// Push stages a blob after its size and digest were verified.
func (s *Staging) Push(_ context.Context, expected ocispec.Descriptor, from io.Reader) error {
	if !IsSHA256(expected.Digest) {
		return fmt.Errorf("blob %s is not named by a sha256 digest, and archives have no other", expected.Digest)
	}
	var blob Blob
	if expected.Size <= inMemory {
		data, err := content.ReadAll(from, expected)
		if err != nil {
			return fmt.Errorf("blob %s: %w", expected.Digest, err)
		}
		blob = MemoryBlob(data)
	} else {
		file, err := s.write(expected, from)
		if err != nil {
			return fmt.Errorf("blob %s: %w", expected.Digest, err)
		}
		blob = fileBlob{path: file, length: expected.Size}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[expected.Digest] = blob
	return nil
}

// write streams a blob into a file.
func (s *Staging) write(expected ocispec.Descriptor, from io.Reader) (path string, err error) {
	dir, err := s.folder()
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, blobName(expected.Digest)+".*")
	if err != nil {
		return "", err
	}
	verified := content.NewVerifyReader(from, expected)
	if _, err = io.Copy(file, verified); err == nil {
		err = verified.Verify()
	}
	return file.Name(), errors.Join(err, file.Close())
}

// folder returns the staging directory, and makes it on first use.
func (s *Staging) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(s.target), DirMode); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(s.target), "."+filepath.Base(s.target)+".*")
	s.dir = dir
	return dir, err
}

// merged returns the content of an archive with the staged artifacts added: the newest artifact wins a tag. It leaves out blobs without
// references.
func (s *Staging) merged(into *Archive) (*Archive, error) {
	made := &Archive{Path: s.target, Blobs: map[digest.Digest]Blob{}}
	all := map[digest.Digest]Blob{}
	if into != nil {
		for _, entry := range into.Index.Artifacts {
			replaced := slices.ContainsFunc(s.Adds, func(added Artifact) bool {
				return added.Repository == entry.Repository && added.Tag == entry.Tag && added.Tag != ""
			})
			if !replaced {
				made.Index.Artifacts = append(made.Index.Artifacts, entry)
			}
		}
		maps.Copy(all, into.Blobs)
	}
	maps.Copy(all, s.blobs) // over those that are there: one of them may be damaged
	made.Index.Artifacts = append(made.Index.Artifacts, s.Adds...)
	source := &Archive{Path: s.target, Blobs: all}
	for _, entry := range made.Index.Artifacts {
		if err := made.adopt(source, entry.Digest); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// adopt adds a manifest and everything below it.
func (a *Archive) adopt(from *Archive, of digest.Digest) error {
	if _, done := a.Blobs[of]; done {
		return nil
	}
	root, data, err := from.Describe(of)
	if err != nil {
		return err
	}
	a.Blobs[of] = from.Blobs[of]
	fetch := content.FetcherFunc(func(context.Context, ocispec.Descriptor) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	})
	below, err := content.Successors(context.Background(), fetch, root)
	if err != nil {
		return fmt.Errorf("archive %s: manifest %s: %w", a.Path, of, err)
	}
	for _, node := range below {
		blob, ok := from.Blobs[node.Digest]
		switch {
		case !ok: // a layer that lives elsewhere, which oras does not copy either
		case isManifest(node.MediaType):
			if err := a.adopt(from, node.Digest); err != nil {
				return err
			}
		default:
			a.Blobs[node.Digest] = blob
		}
	}
	return nil
}

// isManifest reports whether a media type is that of a manifest or an index.
func isManifest(mediaType string) bool {
	switch mediaType {
	case ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex,
		"application/vnd.docker.distribution.manifest.v2+json", "application/vnd.docker.distribution.manifest.list.v2+json":
		return true
	default:
		return false
	}
}
