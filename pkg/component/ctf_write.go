package component

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

	"github.com/open-component-model/ocm/pkg/common/accessobj"
	"github.com/opencontainers/go-digest"
)

// The modes of everything that is written, whatever umask is set.
const (
	archiveFileMode = 0o644
	archiveDirMode  = 0o755
)

// commit brings what is staged into the archive:
//
//  1. One at a time: others that write into the same directory wait.
//  2. admit sees the archive as it is now, nil if there is none, and tells whether there is something to do.
//  3. A file is written beside the archive and takes its place at once. A new directory too; into one that is there the blobs go first, and
//     then the index at once. So nobody reads a half-written archive, and an interruption leaves the old one.
func (s *staging) commit(ctx context.Context, admit func(*archive) (bool, error)) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(s.target), archiveDirMode); err != nil {
		return false, fmt.Errorf("make the directory of archive %s: %w", s.target, err)
	}
	unlock, err := lock(ctx, filepath.Dir(s.target))
	if err != nil {
		return false, fmt.Errorf("wait for others who write archive %s: %w", s.target, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()

	there, err := existing(s.target)
	if err != nil {
		return false, err
	}
	if there != nil {
		defer func() { err = errors.Join(err, there.close()) }()
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

// existing opens the archive if there is one. An empty directory is none yet.
func existing(path string) (*archive, error) {
	found, err := openArchive(path)
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

// write puts the archive to its place, where there may be an older one.
func (a *archive) write(there *archive) error {
	info, err := os.Stat(a.path)
	switch {
	case err == nil && info.IsDir() && there == nil:
		return a.fill(a.path, nil)
	case err == nil && info.IsDir():
		return a.update(there)
	case there == nil && formOf(a.path) == formDirectory:
		return a.create()
	default:
		return a.replace()
	}
}

// create makes a new directory.
func (a *archive) create() error {
	made, err := os.MkdirTemp(filepath.Dir(a.path), "."+filepath.Base(a.path)+".*")
	if err != nil {
		return err
	}
	err = a.fill(made, nil)
	if err == nil {
		err = os.Rename(made, a.path)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	return nil
}

// update adds to a directory and takes away what nothing refers to any more.
func (a *archive) update(there *archive) error {
	if err := a.fill(a.path, there.blobs); err != nil {
		return err
	}
	for of := range there.blobs {
		if _, kept := a.blobs[of]; !kept {
			if err := os.Remove(filepath.Join(a.path, blobsDir, blobName(of))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// fill writes the blobs that are not there, and then the index.
func (a *archive) fill(dir string, there map[digest.Digest]stored) error {
	blobs := filepath.Join(dir, blobsDir)
	if err := errors.Join(os.MkdirAll(blobs, archiveDirMode), os.Chmod(dir, archiveDirMode), os.Chmod(blobs, archiveDirMode)); err != nil {
		return err
	}
	for of, blob := range a.blobs {
		name := filepath.Join(blobs, blobName(of))
		if _, known := there[of]; known && blob == stored(fileBlob{path: name, length: blob.size()}) {
			continue
		}
		if err := place(blob, name); err != nil {
			return fmt.Errorf("blob %s: %w", of, err)
		}
	}
	index, err := a.index.encode()
	if err != nil {
		return err
	}
	return place(memoryBlob(index), filepath.Join(dir, indexFile))
}

// place puts a blob under a name at once.
func place(blob stored, name string) error {
	return writeBeside(name, func(file *os.File) error {
		from, err := blob.open()
		if err != nil {
			return err
		}
		_, err = io.Copy(file, from)
		return errors.Join(err, from.Close())
	})
}

// writeBeside writes a file under a name that nobody else uses, and gives it its own when it is complete.
func writeBeside(name string, write func(*os.File) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Chmod(archiveFileMode)
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
func (a *archive) replace() error {
	return writeBeside(a.path, func(file *os.File) error {
		if formOf(a.path) != formTarGzip {
			return a.tar(file)
		}
		zipped := gzip.NewWriter(file) // its header has neither time nor name
		return cmp.Or(a.tar(zipped), zipped.Close())
	})
}

// tar writes the archive in one order and with headers that tell nothing of where it was made.
func (a *archive) tar(to io.Writer) error {
	writer := tar.NewWriter(to)
	index, err := a.index.encode()
	if err != nil {
		return err
	}
	if err := tarFile(writer, indexFile, memoryBlob(index)); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeDir, Name: blobsDir + "/", Mode: archiveDirMode, ModTime: accessobj.ModTime}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	for _, of := range slices.Sorted(maps.Keys(a.blobs)) {
		if err := tarFile(writer, path.Join(blobsDir, blobName(of)), a.blobs[of]); err != nil {
			return fmt.Errorf("blob %s: %w", of, err)
		}
	}
	return writer.Close()
}

func tarFile(to *tar.Writer, name string, blob stored) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: blob.size(), Mode: archiveFileMode, ModTime: accessobj.ModTime}
	if err := to.WriteHeader(header); err != nil {
		return err
	}
	from, err := blob.open()
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close())
}
