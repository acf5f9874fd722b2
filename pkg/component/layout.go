package component

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
)

// Layout is an OCI image layout in a directory, open for writing. It holds component versions, and images under their own names, byte for
// byte. What is complete in it stays there when a copy is interrupted, and is not fetched again. Several copies at a time may go into it;
// a lock keeps other processes out. A Ref with its directory as Path reads from it.
type Layout struct {
	dir     string
	storage *oci.Storage
	unlock  func() error

	mu    sync.Mutex
	index map[string]ocispec.Descriptor
}

// OpenLayout opens the layout in a directory, and makes it if there is none. The caller must close it.
func OpenLayout(ctx context.Context, dir string) (*Layout, error) {
	if err := os.MkdirAll(dir, ctf.DirMode); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	unlock, err := ctf.Lock(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	l := &Layout{dir: dir, unlock: unlock, index: map[string]ocispec.Descriptor{}}
	if err := l.load(); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return l, nil
}

// load reads the index, and makes an empty layout of an empty directory.
func (l *Layout) load() (err error) {
	marker := filepath.Join(l.dir, ocispec.ImageLayoutFile)
	if _, err := os.Stat(marker); errors.Is(err, os.ErrNotExist) {
		entries, err := os.ReadDir(l.dir)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s has files and is no OCI image layout: name an empty directory", l.dir)
		}
		version, err := json.Marshal(ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion})
		if err != nil {
			return err
		}
		if err := ctf.WriteFile(marker, version); err != nil {
			return err
		}
	}
	there, err := ctf.Open(l.dir)
	if err != nil {
		return err
	}
	for _, entry := range there.Index.Artifacts {
		described, _, err := there.Describe(entry.Digest)
		if err != nil {
			continue // it is lost or damaged, and copied again
		}
		l.index[layoutName(entry.Repository, cmp.Or(entry.Tag, entry.Digest.String()))] = described
	}
	l.storage, err = oci.NewStorage(l.dir)
	return err
}

// layoutName is the name of a manifest in the index of a layout; referrers have no repository.
func layoutName(repository, reference string) string {
	if strings.HasPrefix(reference, "sha256:") {
		return repository + "@" + reference
	}
	return repository + ":" + reference
}

// Close ends the use of the layout.
func (l *Layout) Close() error { return l.unlock() }

// set names a manifest, and writes the index.
func (l *Layout) set(name string, manifest ocispec.Descriptor) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.index[name]; ok && known.Digest == manifest.Digest {
		return nil
	}
	l.index[name] = ocispec.Descriptor{MediaType: manifest.MediaType, Digest: manifest.Digest, Size: manifest.Size}
	index := ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{},
	}
	for name, manifest := range l.index {
		if !strings.HasPrefix(name, "@") {
			manifest.Annotations = map[string]string{ocispec.AnnotationRefName: name}
		}
		index.Manifests = append(index.Manifests, manifest)
	}
	slices.SortFunc(index.Manifests, func(a, b ocispec.Descriptor) int {
		return cmp.Or(
			cmp.Compare(a.Annotations[ocispec.AnnotationRefName], b.Annotations[ocispec.AnnotationRefName]), cmp.Compare(a.Digest, b.Digest))
	})
	data, err := json.Marshal(index)
	if err != nil {
		return err
	}
	return ctf.WriteFile(filepath.Join(l.dir, ocispec.ImageIndexFile), data)
}

// layoutRepository is one repository of a layout; all of them share their blobs.
type layoutRepository struct {
	*Layout
	name string
}

// Exists reports whether the layout has a blob, and of a manifest also everything below it: a copy that finds a manifest looks no further.
// It deletes a damaged blob, as far as its size or, of a manifest, its digest tells, so that it is copied again.
func (r layoutRepository) Exists(ctx context.Context, wanted ocispec.Descriptor) (bool, error) {
	there, err := r.storage.Exists(ctx, wanted)
	if err != nil || !there {
		return false, err
	}
	file := filepath.Join(r.dir, ocispec.ImageBlobsDir, wanted.Digest.Algorithm().String(), wanted.Digest.Encoded())
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	if info.Size() != wanted.Size {
		return false, os.Remove(file)
	}
	below, err := content.Successors(ctx, r.storage, wanted)
	if err != nil {
		return false, os.Remove(file)
	}
	for _, node := range below {
		if there, err := r.Exists(ctx, node); err != nil || !there {
			return false, err
		}
	}
	return true, nil
}

// Fetch opens a blob.
func (r layoutRepository) Fetch(ctx context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	return r.storage.Fetch(ctx, wanted)
}

// Push stores a blob after its size and digest were verified.
func (r layoutRepository) Push(ctx context.Context, expected ocispec.Descriptor, blob io.Reader) error {
	err := r.storage.Push(ctx, expected, blob)
	if errors.Is(err, errdef.ErrAlreadyExists) { // another copy has the same blob
		return nil
	}
	return err
}

// Tag names a manifest that is there.
func (r layoutRepository) Tag(_ context.Context, manifest ocispec.Descriptor, tag string) error {
	return r.set(layoutName(r.name, tag), manifest)
}

// Resolve returns the manifest with a tag or digest.
func (r layoutRepository) Resolve(_ context.Context, reference string) (ocispec.Descriptor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.index[layoutName(r.name, reference)]
	if !ok {
		return found, fmt.Errorf("%s: %w", layoutName(r.name, reference), errdef.ErrNotFound)
	}
	return found, nil
}

// Note lists a manifest that has no name, since a directory cannot be searched for referrers otherwise.
func (r layoutRepository) Note(referrer ocispec.Descriptor) error {
	return r.set(layoutName("", referrer.Digest.String()), referrer)
}

// Add copies a component version into the layout, as it is, with its images if opts says so, which keep their names.
func (l *Layout) Add(ctx context.Context, from Ref, opts CopyOptions) (report CopyReport, err error) {
	opened, err := Open(ctx, from)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	work := &copying{Opened: opened, to: Ref{Path: l.dir, Name: opened.Ref.Name, Version: opened.Ref.Version}, opts: opts}
	if opts.Images {
		if err := work.findImages(ctx); err != nil {
			return report, fmt.Errorf("copy %s: %w", opened.Ref, err)
		}
	}
	for i := range work.images {
		image := &work.images[i]
		tag := cmp.Or(image.was.Tag, image.Digest.String())
		if err := work.sendImage(ctx, image, layoutRepository{l, imageRepository(image.was)}, tag); err != nil {
			return report, fmt.Errorf("image %s to %s: %w", image.was, l.dir, err)
		}
	}
	version := foundImage{Descriptor: opened.root(), from: openedGraph{opened}}
	into := layoutRepository{l, path.Join(archiveNamespace, opened.Ref.Name)}
	changed, err := putImage(ctx, version, into, tagOf(opened.Ref.Version), opts)
	if err != nil {
		return report, fmt.Errorf("copy %s to %s: %w", opened.Ref, l.dir, registryError(err))
	}
	return CopyReport{Ref: work.to, Digest: opened.Component.Digest, Changed: changed, Images: work.report()}, nil
}

// openedGraph is a component version without referrers: its signatures are in its descriptor.
type openedGraph struct{ *Opened }

// Predecessors returns none.
func (openedGraph) Predecessors(context.Context, ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	return nil, nil
}

// Versions returns the component versions of an archive or a layout.
func Versions(dir string) (found []Ref, err error) {
	there, err := ctf.Open(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range there.Index.Artifacts {
		if name, ok := strings.CutPrefix(entry.Repository, archiveNamespace+"/"); ok && entry.Tag != "" {
			found = append(found, Ref{Path: dir, Name: name, Version: strings.ReplaceAll(entry.Tag, ".build-", "+")})
		}
	}
	return found, there.Close()
}

// ImageSource is an image in storage that is neither a registry nor an archive of components, such as a layout in a tar.
type ImageSource interface {
	Fetch(ctx context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error)
	Exists(ctx context.Context, wanted ocispec.Descriptor) (bool, error)
	Predecessors(ctx context.Context, node ocispec.Descriptor) ([]ocispec.Descriptor, error)
}

// PutImage copies an image into a repository below the registry's sub path, under a tag. Its digest stays the same; a tag that names
// another image is moved only with Overwrite. It reports false if the image was there.
func (r Registry) PutImage(
	ctx context.Context, from ImageSource, image ocispec.Descriptor, repository, tag string, opts CopyOptions,
) (changed bool, err error) {
	to, err := r.access().session().repository(r.Host, path.Join(strings.Trim(r.SubPath, "/"), repository))
	if err != nil {
		return false, err
	}
	changed, err = putImage(ctx, foundImage{Descriptor: image, from: from}, to, tag, opts)
	return changed, registryError(err)
}
