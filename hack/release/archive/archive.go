// Package archive packs files so that the same files give the same bytes: sorted, with one time for all, without owners. It compresses with
// the standard library, so that only another version of Go can give other bytes.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is a file to pack.
type File struct {
	// Name is its slash-separated path in the archive.
	Name       string
	Data       []byte
	Executable bool
}

func (f File) mode() fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// Folder reads the files of a folder and of those below it. None of them is executable.
func Folder(dir string) ([]File, error) {
	var files []File
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		files = append(files, File{Name: name, Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return files, nil
}

// TarGzip returns a compressed tar archive.
func TarGzip(files []File, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(writeTar(compressor, files, at), compressor.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// Tar returns a tar archive.
func Tar(files []File, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	err := writeTar(&packed, files, at)
	return packed.Bytes(), err
}

func writeTar(out io.Writer, files []File, at time.Time) error {
	archive := tar.NewWriter(out)
	for _, file := range sorted(files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: file.Name, Mode: int64(file.mode()), Size: int64(len(file.Data)), ModTime: at.UTC().Truncate(time.Second),
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("pack %s: %w", file.Name, err)
		}
		if _, err := archive.Write(file.Data); err != nil {
			return fmt.Errorf("pack %s: %w", file.Name, err)
		}
	}
	return archive.Close()
}

// Zip returns a compressed zip archive.
func Zip(files []File, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, file := range sorted(files) {
		header := &zip.FileHeader{Name: file.Name, Method: zip.Deflate, Modified: at.UTC().Truncate(time.Second)}
		header.SetMode(file.mode())
		out, err := archive.CreateHeader(header)
		if err == nil {
			_, err = out.Write(file.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", file.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func sorted(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}
