package component

import (
	"bytes"
	"context"
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

// shelf is an archive to read from, as oras sees it. The repositories of an archive share their blobs.
type shelf struct{ *archive }

// Fetch opens a blob of the size that is asked for. Whether it has the digest is seen by whoever reads it to the end.
func (s shelf) Fetch(_ context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	blob, ok := s.blobs[wanted.Digest]
	if !ok {
		return nil, fmt.Errorf("archive %s: blob %s: %w", s.path, wanted.Digest, errdef.ErrNotFound)
	}
	if wanted.Size != blob.size() {
		return nil, invalidArchive("archive %s: blob %s has %d bytes instead of %d: %w",
			s.path, wanted.Digest, blob.size(), wanted.Size, descriptor.ErrDigestMismatch)
	}
	return blob.open()
}

// Exists tells whether the archive holds a blob.
func (s shelf) Exists(_ context.Context, wanted ocispec.Descriptor) (bool, error) {
	_, ok := s.blobs[wanted.Digest]
	return ok, nil
}

// staging is what is to go into an archive. It lies beside the archive until commit, so that it can be moved there.
type staging struct {
	target string

	mu    sync.Mutex
	dir   string
	blobs map[digest.Digest]stored
	adds  []artifact
}

func stage(target string) *staging {
	return &staging{target: target, blobs: map[digest.Digest]stored{}}
}

// remove lets go of what was not moved into the archive.
func (s *staging) remove() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// add notes that a manifest belongs to a repository.
func (s *staging) add(repository, tag string, of digest.Digest) {
	s.adds = append(s.adds, artifact{Repository: repository, Tag: tag, Digest: of})
}

// put takes over a packed version without copying its bytes.
func (s *staging) put(made *packed) {
	for _, part := range made.parts {
		s.blobs[part.Digest] = memoryBlob(part.data)
	}
}

// Fetch opens a staged blob.
func (s *staging) Fetch(_ context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	blob, ok := s.blobs[wanted.Digest]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", wanted.Digest, errdef.ErrNotFound)
	}
	return blob.open()
}

// Exists tells whether a blob is staged.
func (s *staging) Exists(_ context.Context, wanted ocispec.Descriptor) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.blobs[wanted.Digest]
	return ok, nil
}

// inMemory is up to which size a blob is kept in memory: most manifests and configs are small.
const inMemory = 64 << 10

// Push stages a blob after its size and digest were verified.
func (s *staging) Push(_ context.Context, expected ocispec.Descriptor, from io.Reader) error {
	if !isSHA256(expected.Digest) {
		return fmt.Errorf("blob %s is not named by a sha256 digest, and archives have no other", expected.Digest)
	}
	var blob stored
	if expected.Size <= inMemory {
		data, err := content.ReadAll(from, expected)
		if err != nil {
			return fmt.Errorf("blob %s: %w", expected.Digest, err)
		}
		blob = memoryBlob(data)
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
func (s *staging) write(expected ocispec.Descriptor, from io.Reader) (path string, err error) {
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

// folder is the staging directory, made when it is needed first.
func (s *staging) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(s.target), archiveDirMode); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(s.target), "."+filepath.Base(s.target)+".*")
	s.dir = dir
	return dir, err
}

// merged is the content of an archive that the staged artifacts have gone into: of a tag, the newest counts. Blobs that nothing refers to
// any more are left out.
func (s *staging) merged(into *archive) (*archive, error) {
	made := &archive{path: s.target, blobs: map[digest.Digest]stored{}}
	all := map[digest.Digest]stored{}
	if into != nil {
		for _, entry := range into.index.Artifacts {
			replaced := slices.ContainsFunc(s.adds, func(added artifact) bool {
				return added.Repository == entry.Repository && added.Tag == entry.Tag && added.Tag != ""
			})
			if !replaced {
				made.index.Artifacts = append(made.index.Artifacts, entry)
			}
		}
		maps.Copy(all, into.blobs)
	}
	maps.Copy(all, s.blobs) // over those that are there: one of them may be damaged
	made.index.Artifacts = append(made.index.Artifacts, s.adds...)
	source := &archive{path: s.target, blobs: all}
	for _, entry := range made.index.Artifacts {
		if err := made.adopt(source, entry.Digest); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// adopt takes over a manifest and everything below it.
func (a *archive) adopt(from *archive, of digest.Digest) error {
	if _, done := a.blobs[of]; done {
		return nil
	}
	root, data, err := from.describe(of)
	if err != nil {
		return err
	}
	a.blobs[of] = from.blobs[of]
	fetch := content.FetcherFunc(func(context.Context, ocispec.Descriptor) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	})
	below, err := content.Successors(context.Background(), fetch, root)
	if err != nil {
		return fmt.Errorf("archive %s: manifest %s: %w", a.path, of, err)
	}
	for _, node := range below {
		blob, ok := from.blobs[node.Digest]
		switch {
		case !ok: // a layer that lives elsewhere, which oras does not copy either
		case isManifest(node.MediaType):
			if err := a.adopt(from, node.Digest); err != nil {
				return err
			}
		default:
			a.blobs[node.Digest] = blob
		}
	}
	return nil
}

// isManifest tells manifests and indexes from blobs.
func isManifest(mediaType string) bool {
	switch mediaType {
	case ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex,
		"application/vnd.docker.distribution.manifest.v2+json", "application/vnd.docker.distribution.manifest.list.v2+json":
		return true
	default:
		return false
	}
}
