package installer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// inMemory is a content that the program has at hand. It is read once, and needs no store. Its reference names the bytes, so that two
// versions of a program that embeds it do not seem to ask for the same thing.
type inMemory struct {
	name string
	read func() ([]content.File, error)

	once   sync.Once
	tree   *content.Tree
	digest string
	err    error
}

func (m *inMemory) load() {
	m.once.Do(func() {
		var files []content.File
		if files, m.err = m.read(); m.err != nil {
			return
		}
		slices.SortFunc(files, func(a, b content.File) int { return cmp.Compare(a.Path, b.Path) })
		sum := sha256.Sum256(content.Archive(files))
		m.tree, m.digest = &content.Tree{Files: files}, "sha256:"+hex.EncodeToString(sum[:])
	})
}

// Reference implements content.Source.
func (m *inMemory) Reference() string {
	m.load()
	return m.name + "@" + m.digest
}

// Resolve implements content.Source.
func (m *inMemory) Resolve(context.Context) (content.Resolved, error) {
	m.load()
	return content.Resolved{Digest: m.digest}, m.err
}

// Fetch implements content.Source.
func (m *inMemory) Fetch(_ context.Context, resolved content.Resolved) (*content.Tree, error) {
	m.load()
	return sameTree(m.tree, m.digest, resolved, m.err)
}

func sameTree(tree *content.Tree, digest string, resolved content.Resolved, err error) (*content.Tree, error) {
	if err == nil && resolved.Digest != digest {
		err = &content.Error{Reason: content.ReasonDigestMismatch, Err: fmt.Errorf(
			"content %s was requested, but its source has %s now: resolve it again", resolved.Digest, digest)}
	}
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// readFiles reads the regular files below dir, within the default limits of a content.
func readFiles(from fs.FS, dir string) ([]content.File, error) {
	limits, entries, size := content.DefaultLimits, 0, int64(0)
	var files []content.File
	err := fs.WalkDir(from, dir, func(name string, entry fs.DirEntry, err error) error {
		entries++
		switch {
		case err != nil:
			return err
		case entries > limits.Entries:
			return tooLarge("there are more than %d files", limits.Entries)
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return invalidContent("%s is not a regular file", name)
		}
		data, err := readFile(from, name, limits.Unpacked-size)
		if err != nil {
			return err
		}
		size += int64(len(data))
		if dir != "." {
			name = strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
		}
		files = append(files, content.File{Path: name, Data: data})
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &content.Error{Reason: content.ReasonContentNotFound, Err: fmt.Errorf("there is no folder %s", dir)}
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, invalidContent("there are no files in %s: add at least one", dir)
	}
	return files, nil
}

func readFile(from fs.FS, name string, most int64) ([]byte, error) {
	file, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, tooLarge("the files have more than %d bytes", content.DefaultLimits.Unpacked)
	}
	return data, nil
}

func tooLarge(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonContentTooLarge, Err: fmt.Errorf(format, args...)}
}

// directory is a folder that is read whenever it is resolved.
type directory struct {
	path string

	mu     sync.Mutex
	tree   *content.Tree
	digest string
}

// Reference implements content.Source.
func (d *directory) Reference() string { return d.source(nil).Reference() }

// Resolve implements content.Source. The store that it needs lives as long as the reading.
func (d *directory) Resolve(ctx context.Context) (resolved content.Resolved, err error) {
	dir, err := os.MkdirTemp("", "manifest-")
	if err != nil {
		return content.Resolved{}, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	source := d.source(&content.Store{Dir: dir})
	if resolved, err = source.Resolve(ctx); err != nil {
		return content.Resolved{}, err
	}
	tree, err := source.Fetch(ctx, resolved)
	if err != nil {
		return content.Resolved{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tree, d.digest = tree, resolved.Digest
	return resolved, nil
}

// Fetch implements content.Source: what Resolve has read, read now if it has not.
func (d *directory) Fetch(ctx context.Context, resolved content.Resolved) (*content.Tree, error) {
	d.mu.Lock()
	tree, digest := d.tree, d.digest
	d.mu.Unlock()
	if digest == resolved.Digest {
		return tree, nil
	}
	if _, err := d.Resolve(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return sameTree(d.tree, d.digest, resolved, nil)
}

func (d *directory) source(store *content.Store) *content.DirectorySource {
	return &content.DirectorySource{Store: store, Dir: d.path}
}
