package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// readOnlyFS is a file system of given files that kustomize can read and not write. The one that comes with kustomize copies every
// file, does not know names with a space and ends the process when it is inconsistent.
type readOnlyFS struct {
	files   map[string][]byte
	folders map[string]bool
}

var errReadOnly = errors.New("the content cannot be written to")

// newReadOnlyFS takes files by their clean paths.
func newReadOnlyFS(files map[string][]byte) readOnlyFS {
	return readOnlyFS{files: files, folders: foldersOf(files)}
}

// foldersOf returns the folders that have files somewhere below, and the root.
func foldersOf(files map[string][]byte) map[string]bool {
	folders := map[string]bool{"": true}
	for name := range files {
		for folder := parentOf(name); !folders[folder]; folder = parentOf(folder) {
			folders[folder] = true
		}
	}
	return folders
}

// parentOf returns the folder of a clean path; "" is the root.
func parentOf(name string) string {
	folder, _ := path.Split(name)
	return strings.TrimSuffix(folder, "/")
}

// key returns the clean path without the slash that stands for the root.
func (f readOnlyFS) key(name string) string {
	return path.Clean("/" + filepath.ToSlash(name))[1:]
}

// IsDir reports whether name is a folder.
func (f readOnlyFS) IsDir(name string) bool { return f.folders[f.key(name)] }

// Exists reports whether name is a file or a folder.
func (f readOnlyFS) Exists(name string) bool {
	_, isFile := f.files[f.key(name)]
	return isFile || f.IsDir(name)
}

// ReadFile returns the content of a file; it must not be changed.
func (f readOnlyFS) ReadFile(name string) ([]byte, error) {
	data, ok := f.files[f.key(name)]
	if !ok {
		return nil, missing(name)
	}
	return data, nil
}

// CleanedAbs divides name into folder and file; the file is empty for a folder.
func (f readOnlyFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	key := f.key(name)
	switch _, isFile := f.files[key]; {
	case f.folders[key]:
		return filesys.ConfirmedDir("/" + key), "", nil
	case isFile:
		return filesys.ConfirmedDir("/" + parentOf(key)), path.Base(key), nil
	default:
		return "", "", missing(name)
	}
}

func missing(name string) error {
	return fmt.Errorf("%q is not part of the content: %w", strings.TrimPrefix(name, "/"), fs.ErrNotExist)
}

// Create is refused.
func (readOnlyFS) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir is refused.
func (readOnlyFS) Mkdir(string) error { return errReadOnly }

// MkdirAll is refused.
func (readOnlyFS) MkdirAll(string) error { return errReadOnly }

// RemoveAll is refused.
func (readOnlyFS) RemoveAll(string) error { return errReadOnly }

// WriteFile is refused.
func (readOnlyFS) WriteFile(string, []byte) error { return errReadOnly }

// Open is refused: a build reads whole files.
func (readOnlyFS) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// ReadDir is refused: a build reads what is named.
func (readOnlyFS) ReadDir(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Glob is refused, as ReadDir.
func (readOnlyFS) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Walk is refused, as ReadDir.
func (readOnlyFS) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }
