package content

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxPath is the maximum length of a file's path, and maxDepth the maximum number of its parts: more than any tool writes, and few enough
	// that work per part stays small.
	maxPath  = 1024
	maxDepth = 64
)

// Tree is unpacked content: regular files, held in memory within the limits. It is shared between readers and must not be changed.
type Tree struct {
	// Files are in the order of their source. Content that is a single file and not an archive has exactly one, whose path is empty.
	Files []File
}

// File is one regular file of a Tree.
type File struct {
	// Path is clean, relative and separated by slashes, such as "manifests/01_namespace.yaml".
	Path string
	Data []byte
}

// File returns the content of the file with that path. The bytes are shared: do not change them.
func (t *Tree) File(name string) (data []byte, ok bool) {
	for _, file := range t.Files {
		if file.Path == name {
			return file.Data, true
		}
	}
	return nil, false
}

// Sub returns the tree below dir, with paths relative to dir; "" and "." mean the whole tree. It returns an error if there are no files.
func (t *Tree) Sub(dir string) (*Tree, error) {
	clean := path.Clean(dir)
	if dir == "" || clean == "." {
		return t, nil
	}
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil, sourceInvalid("path %s leads out of the content: give one relative to its root", Quote(dir))
	}
	below := &Tree{}
	for _, file := range t.Files {
		if rest, ok := strings.CutPrefix(file.Path, clean+"/"); ok {
			below.Files = append(below.Files, File{Path: rest, Data: file.Data})
		}
	}
	if len(below.Files) == 0 {
		if _, ok := t.File(clean); ok {
			return nil, invalid("path %s is a file of the content and no folder: give the folder", Quote(dir))
		}
		return nil, invalid("path %s holds no file of the content: correct it or publish the content with that folder", Quote(dir))
	}
	return below, nil
}

// shape records which paths of one archive are files (true) and which are folders, so that no path is both and no file is duplicate:
// otherwise two readers of the archive could see different content.
type shape map[string]bool

// add records a path and its parents.
func (s shape) add(name string, isFile bool) error {
	if wasFile, known := s[name]; known && (isFile || wasFile) {
		return refuse("entry %s is there twice", Quote(name))
	}
	s[name] = isFile
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		wasFile, known := s[parent]
		if wasFile {
			return refuse("entry %s is below %s, which is a file", Quote(name), Quote(parent))
		}
		if known {
			break
		}
		s[parent] = false
	}
	return nil
}

// CleanPath returns the path that an entry has in a Tree; "." is the root itself.
func CleanPath(name string) (string, error) {
	switch {
	case len(name) > maxPath:
		return "", refuse("entry name %s is longer than %d bytes", Quote(name), maxPath)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", refuse("entry name %s has characters that no name may have", Quote(name))
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	clean := path.Clean(name)
	if strings.Count(clean, "/") >= maxDepth {
		return "", refuse("entry name %s has more than %d parts", Quote(name), maxDepth)
	}
	return clean, nil
}
