package ctf

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
)

// The modes of everything that is written, regardless of the umask.
const (
	FileMode = 0o644
	DirMode  = 0o755
)

// modTime is the time of every entry: that of the OCM library's archives, so that the same content gives the same bytes.
var modTime = time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)

// Commit adds the staged content to the archive:
//
//  1. One writer at a time: others that write into the same directory wait.
//  2. admit gets the archive as it is now, or nil if there is none, and reports whether there is anything to write.
//  3. A file, or a new directory, is written beside the archive and renamed. In an existing directory, the blobs are written first and the
//     index is replaced last. So readers never see a half-written archive, and an interruption leaves the old one.
func (s *Staging) Commit(ctx context.Context, admit func(*Archive) (bool, error)) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(s.target), DirMode); err != nil {
		return false, fmt.Errorf("make the directory of archive %s: %w", s.target, err)
	}
	unlock, err := Lock(ctx, filepath.Dir(s.target))
	if err != nil {
		return false, fmt.Errorf("wait for others who write archive %s: %w", s.target, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()

	there, err := Existing(s.target)
	if err != nil {
		return false, err
	}
	if there != nil {
		defer func() { err = errors.Join(err, there.Close()) }()
	}
	if ok, err := admit(there); err != nil || !ok {
		return false, err
	}
	made, err := s.merged(there)
	if err != nil {
		return false, err
	}
	if err := made.write(there); err != nil {
		return false, fmt.Errorf("write archive %s: %w", s.target, err)
	}
	return true, nil
}

// Existing opens the archive if there is one. An empty directory counts as no archive.
func Existing(path string) (*Archive, error) {
	found, err := Open(path)
	if err == nil && found.Layout {
		return nil, errors.Join(fmt.Errorf("archive %s is an OCI image layout, which is only read: name another directory", path), found.Close())
	}
	if err == nil {
		return found, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if entries, listing := os.ReadDir(path); listing == nil && len(entries) == 0 {
		return nil, nil
	}
	return nil, err
}

// write puts the archive in its place, where there may be an older one.
func (a *Archive) write(there *Archive) error {
	info, err := os.Stat(a.Path)
	switch {
	case err == nil && info.IsDir() && there == nil:
		return a.fill(a.Path, nil)
	case err == nil && info.IsDir():
		return a.update(there)
	case there == nil && formOf(a.Path) == formDirectory:
		return a.create()
	default:
		return a.replace()
	}
}

// create makes a new directory archive.
func (a *Archive) create() error {
	made, err := os.MkdirTemp(filepath.Dir(a.Path), "."+filepath.Base(a.Path)+".*")
	if err != nil {
		return err
	}
	err = a.fill(made, nil)
	if err == nil {
		err = os.Rename(made, a.Path)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	return nil
}

// update adds to a directory archive and deletes blobs without references.
func (a *Archive) update(there *Archive) error {
	if err := a.fill(a.Path, there.Blobs); err != nil {
		return err
	}
	for of := range there.Blobs {
		if _, kept := a.Blobs[of]; !kept {
			if err := os.Remove(filepath.Join(a.Path, blobsDir, blobName(of))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// fill writes the missing blobs, and then the index.
func (a *Archive) fill(dir string, there map[digest.Digest]Blob) error {
	blobs := filepath.Join(dir, blobsDir)
	if err := errors.Join(os.MkdirAll(blobs, DirMode), os.Chmod(dir, DirMode), os.Chmod(blobs, DirMode)); err != nil {
		return err
	}
	for of, blob := range a.Blobs {
		name := filepath.Join(blobs, blobName(of))
		if _, known := there[of]; known && blob == Blob(fileBlob{path: name, length: blob.Size()}) {
			continue
		}
		if err := place(blob, name); err != nil {
			return fmt.Errorf("blob %s: %w", of, err)
		}
	}
	index, err := a.Index.encode()
	if err != nil {
		return err
	}
	return place(MemoryBlob(index), filepath.Join(dir, indexFile))
}

// place writes a blob under a name atomically.
func place(blob Blob, name string) error {
	return writeBeside(name, func(file *os.File) error {
		from, err := blob.Open()
		if err != nil {
			return err
		}
		_, err = io.Copy(file, from)
		return errors.Join(err, from.Close())
	})
}

// writeBeside writes a file under a unique temporary name, and renames it when it is complete.
func writeBeside(name string, write func(*os.File) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Chmod(FileMode)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// replace writes the archive as one file.
func (a *Archive) replace() error {
	return writeBeside(a.Path, func(file *os.File) error {
		if formOf(a.Path) != formTarGzip {
			return a.tar(file)
		}
		zipped := gzip.NewWriter(file) // its header has neither time nor name
		return cmp.Or(a.tar(zipped), zipped.Close())
	})
}

// tar writes the archive in a fixed order, with headers that do not depend on where it was made.
func (a *Archive) tar(to io.Writer) error {
	writer := tar.NewWriter(to)
	index, err := a.Index.encode()
	if err != nil {
		return err
	}
	if err := tarFile(writer, indexFile, MemoryBlob(index)); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeDir, Name: blobsDir + "/", Mode: DirMode, ModTime: modTime}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	for _, of := range slices.Sorted(maps.Keys(a.Blobs)) {
		if err := tarFile(writer, path.Join(blobsDir, blobName(of)), a.Blobs[of]); err != nil {
			return fmt.Errorf("blob %s: %w", of, err)
		}
	}
	return writer.Close()
}

func tarFile(to *tar.Writer, name string, blob Blob) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: blob.Size(), Mode: FileMode, ModTime: modTime}
	if err := to.WriteHeader(header); err != nil {
		return err
	}
	from, err := blob.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close())
}

// WriteFile writes a file at once: readers see the old content or all of the new one.
func WriteFile(name string, data []byte) error { return place(MemoryBlob(data), name) }
