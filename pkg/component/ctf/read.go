package ctf

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/opencontainers/go-digest"
)

// maxRatio is how much larger than a .tgz its content may be.
const maxRatio = 200

// Open opens a CTF of any form, or an OCI image layout, which it detects. The error is fs.ErrNotExist if there is no such file.
func Open(file string) (*Archive, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	found := &Archive{Path: file, Blobs: map[digest.Digest]Blob{}, Close: func() error { return nil }}
	switch {
	case info.IsDir():
		err = found.readDirectory()
	case info.Mode().IsRegular():
		err = found.readFile()
	default: // opening a pipe would wait for another process
		err = errors.New("it is neither a directory nor a regular file, and archives are read where they are written")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("archive %s: %w", file, err), found.Close())
	}
	return found, nil
}

func (a *Archive) readDirectory() error {
	if isLayout(a.Path) {
		return a.readLayout()
	}
	data, err := readCapped(filepath.Join(a.Path, indexFile), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it is a directory without %s, and so no archive of components", indexFile)
	}
	if err != nil {
		return err
	}
	if a.Index, err = decodeIndex(data); err != nil {
		return err
	}
	return a.listBlobs(blobsDir, digestOfFile)
}

// listBlobs records the blobs in a folder of the archive; named returns the digest of a file's name.
func (a *Archive) listBlobs(folder string, named func(file string) (digest.Digest, bool)) error {
	entries, err := os.ReadDir(filepath.Join(a.Path, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list its blobs: %w", err)
	}
	for _, entry := range entries {
		of, ok := named(entry.Name())
		if !ok || !entry.Type().IsRegular() {
			continue // a leftover, which nothing refers to
		}
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("look at its blobs: %w", err)
		}
		a.Blobs[of] = fileBlob{path: filepath.Join(a.Path, folder, entry.Name()), length: info.Size()}
	}
	return nil
}

func readCapped(file string, limit int64) ([]byte, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(opened, limit+1))
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", file, limit)
	}
	return data, nil
}

// readFile records where in the tar its blobs are. The file stays open, so that a concurrent replacement does no harm.
func (a *Archive) readFile() error {
	file, err := os.Open(a.Path)
	if err != nil {
		return err
	}
	a.Close = file.Close
	magic := make([]byte, 2)
	if _, err := file.ReadAt(magic, 0); err != nil {
		return errors.New("it is too short for an archive of components")
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if file, err = a.unzip(file); err != nil {
			return err
		}
	}
	return a.readTar(file)
}

// unzip unpacks a .tgz into a temporary file, which has random access to blobs.
func (a *Archive) unzip(packed *os.File) (unpacked *os.File, err error) {
	info, err := packed.Stat()
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bufio.NewReaderSize(packed, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	unpacked, err = os.CreateTemp("", "kyma-archive-*.tar")
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	a.Close = func() error { return errors.Join(packed.Close(), unpacked.Close(), os.Remove(unpacked.Name())) }
	limit := info.Size()*maxRatio + 1<<20
	count, err := io.Copy(unpacked, io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	if count > limit {
		return nil, fmt.Errorf("it unpacks to more than %d times its size", maxRatio)
	}
	if _, err := unpacked.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return unpacked, nil
}

func (a *Archive) readTar(file *os.File) error {
	reader, known := tar.NewReader(file), false
	for count := 0; ; count++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is no readable tar: %w", err)
		}
		if count >= maxArchived {
			return fmt.Errorf("it has more than %d entries", maxArchived)
		}
		name := path.Clean(header.Name)
		switch {
		case header.Typeflag == tar.TypeDir:
		case header.Typeflag != tar.TypeReg:
			return fmt.Errorf("entry %q is neither file nor directory", header.Name)
		case name == indexFile && known:
			return fmt.Errorf("it has two %s", indexFile)
		case name == indexFile:
			if a.Index, err = readIndex(reader, header.Size); err != nil {
				return err
			}
			known = true
		case path.Dir(name) == blobsDir:
			if err := a.noteBlob(file, path.Base(name), header.Size); err != nil {
				return err
			}
		}
	}
	if !known {
		return fmt.Errorf("it has no %s, and so is no archive of components", indexFile)
	}
	return nil
}

func readIndex(from io.Reader, size int64) (Index, error) {
	if size > maxIndex {
		return Index{}, fmt.Errorf("its %s has %d bytes", indexFile, size)
	}
	data, err := io.ReadAll(from)
	if err != nil {
		return Index{}, fmt.Errorf("read %s: %w", indexFile, err)
	}
	return decodeIndex(data)
}

// noteBlob records a blob's position. Call it right after the tar reader has read the header: the content begins at the current offset.
func (a *Archive) noteBlob(file *os.File, name string, size int64) error {
	of, ok := digestOfFile(name)
	if !ok {
		return nil
	}
	if _, twice := a.Blobs[of]; twice {
		return fmt.Errorf("it holds blob %s twice", of)
	}
	offset, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	a.Blobs[of] = sectionBlob{of: file, offset: offset, length: size}
	return nil
}
