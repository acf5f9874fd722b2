package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DirectorySource is a local folder, for libraries and command-line tools; an operator does not need it. A path to a file is read in the
// way HTTPSource reads one: a packed chart, or one manifest.
//
//  1. A link to a file is followed if it stays inside the folder; every other link is refused.
//  2. It leaves out ".git", and names that begin with "..", which Kubernetes uses in the folder of a mounted ConfigMap.
//  3. Everything that is neither file nor folder is refused and not opened.
type DirectorySource struct {
	// Store keeps what was read, as a canonical archive; the content's digest is the archive's.
	Store *Store
	// Dir is the folder.
	Dir string
	// Limits apply to what is read; zero fields mean the Store's.
	Limits Limits
}

// Reference returns the absolute path of the folder.
func (d *DirectorySource) Reference() string {
	path, err := filepath.Abs(d.Dir)
	if err != nil {
		path = d.Dir
	}
	return "file://" + filepath.ToSlash(path)
}

// Resolve reads the folder into the store.
func (d *DirectorySource) Resolve(ctx context.Context) (Resolved, error) {
	digest, err := d.read(ctx)
	if err != nil {
		return Resolved{}, fmt.Errorf("%s: %w", d.Reference(), err)
	}
	return Resolved{Digest: digest}, nil
}

// Fetch returns what Resolve has read, and reads again if the store has lost it. It returns an error if the folder has changed since.
func (d *DirectorySource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	return d.Store.TreeOr(ctx, resolved.Digest, func() (string, error) {
		now, err := d.Resolve(ctx)
		return now.Digest, err
	})
}

func (d *DirectorySource) read(ctx context.Context) (digest string, err error) {
	info, err := os.Stat(d.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{Reason: ReasonContentNotFound, Err: errors.New("there is no such file or folder")}
	case err != nil:
		return "", fmt.Errorf("read the folder: %w", err)
	case info.Mode().IsRegular():
		tree, err := treeOf(d.Dir, d.limits())
		if err != nil {
			return "", err
		}
		return d.Store.PutFiles(tree.Files)
	case !info.IsDir():
		return "", sourceInvalid("it is neither file nor folder")
	}
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return "", fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close() // read only: nothing can be lost
	reader := &folderReader{root: root, limits: d.limits()}
	if err := fs.WalkDir(root.FS(), ".", reader.visitUntil(ctx)); err != nil {
		return "", err
	}
	return d.Store.PutFiles(reader.files)
}

func (d *DirectorySource) limits() Limits {
	limits, store := d.Limits, d.Store.Limits.OrDefault()
	limits.Packed = cmp.Or(limits.Packed, store.Packed)
	limits.Unpacked = cmp.Or(limits.Unpacked, store.Unpacked)
	limits.Entries = cmp.Or(limits.Entries, store.Entries)
	limits.Ratio = cmp.Or(limits.Ratio, store.Ratio)
	return limits
}

// folderReader collects the files of a folder, within limits.
type folderReader struct {
	root    *os.Root
	limits  Limits
	files   []File
	entries int
	bytes   int64
}

func (r *folderReader) visitUntil(ctx context.Context) fs.WalkDirFunc {
	return func(path string, entry fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		return r.visit(path, entry)
	}
}

func (r *folderReader) visit(path string, entry fs.DirEntry) error {
	if name := entry.Name(); path != "." && (name == ".git" || strings.HasPrefix(name, "..")) {
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if r.entries++; r.entries > r.limits.Entries {
		return refuse("the folder has more than %d entries", r.limits.Entries)
	}
	if entry.IsDir() {
		return nil
	}
	// Checked before it is opened: opening a named pipe waits for its other end.
	info, err := r.root.Stat(path)
	switch {
	case err != nil && entry.Type()&fs.ModeSymlink != 0:
		return refuse("%s is a link that is broken or leads out of the folder: replace it by its target", Quote(path))
	case err != nil:
		return fmt.Errorf("look at %s: %w", Quote(path), err)
	case !info.Mode().IsRegular() && entry.Type()&fs.ModeSymlink != 0:
		return refuse("%s is a link to something other than a file: replace it by its target", Quote(path))
	case !info.Mode().IsRegular():
		return refuse("%s is neither file nor folder: remove it", Quote(path))
	}
	return r.readFile(path)
}

func (r *folderReader) readFile(path string) error {
	file, err := r.root.Open(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", Quote(path), err)
	}
	data, err := io.ReadAll(io.LimitReader(file, r.limits.Unpacked-r.bytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read %s: %w", Quote(path), err)
	}
	if r.bytes += int64(len(data)); r.bytes > r.limits.Unpacked {
		return tooLarge("the folder has more than %d bytes: make it smaller or raise the limit", r.limits.Unpacked)
	}
	r.files = append(r.files, File{Path: path, Data: slices.Clip(data)})
	return nil
}
