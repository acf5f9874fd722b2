package ctf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// layoutBlobs is where an OCI image layout keeps blobs of the only algorithm that archives have.
var layoutBlobs = filepath.Join(ocispec.ImageBlobsDir, "sha256")

// isLayout reports whether a directory is an OCI image layout.
func isLayout(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ocispec.ImageLayoutFile))
	return err == nil && info.Mode().IsRegular()
}

// readLayout reads an OCI image layout: its index names manifests as "repository:tag" or "repository@digest", and lists referrers without
// a name.
func (a *Archive) readLayout() error {
	a.Layout = true
	data, err := readCapped(filepath.Join(a.Path, ocispec.ImageIndexFile), maxIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // without an index, nothing was written yet
		return err
	}
	var index ocispec.Index
	if err == nil {
		if err := json.Unmarshal(data, &index); err != nil {
			return fmt.Errorf("its %s is no JSON: %w", ocispec.ImageIndexFile, err)
		}
	}
	for _, manifest := range index.Manifests {
		if !IsSHA256(manifest.Digest) {
			return fmt.Errorf("its %s lists %q, which is no sha256 digest", ocispec.ImageIndexFile, manifest.Digest)
		}
		repository, tag := splitName(manifest.Annotations[ocispec.AnnotationRefName])
		a.Index.Artifacts = append(a.Index.Artifacts, Artifact{Repository: repository, Tag: tag, Digest: manifest.Digest})
	}
	return a.listBlobs(layoutBlobs, func(name string) (digest.Digest, bool) {
		of := digest.NewDigestFromEncoded(digest.SHA256, name)
		return of, IsSHA256(of)
	})
}

// splitName splits the name of a manifest in a layout into repository and tag; the tag is empty if a digest takes its place.
func splitName(name string) (repository, tag string) {
	name, _, _ = strings.Cut(name, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		return name[:colon], name[colon+1:]
	}
	return name, ""
}
