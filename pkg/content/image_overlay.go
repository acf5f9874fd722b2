package content

import (
	"archive/tar"
	"path"
	"strings"
)

const (
	// whiteoutPrefix is the prefix of an empty file that removes the path with the rest of that name from lower layers.
	whiteoutPrefix = ".wh."
	// opaqueName is the file that removes everything that lower layers have in its folder.
	opaqueName = ".wh..wh..opq"
)

// whiteout records an entry that removes something, and refuses other names with the prefix, which the image specification reserves.
func (u *unpacked) whiteout(name string, header *tar.Header) (done bool, err error) {
	dir, base := path.Split(name)
	if strings.HasPrefix(dir, whiteoutPrefix) || strings.Contains(dir, "/"+whiteoutPrefix) {
		return false, refuse("entry %s is below a name that images reserve", Quote(name))
	}
	if !strings.HasPrefix(base, whiteoutPrefix) {
		return false, nil
	}
	dir = path.Clean(dir)
	if base == opaqueName && header.Typeflag == tar.TypeReg && header.Size == 0 {
		u.opaque[dir] = true
		return true, nil
	}
	target := strings.TrimPrefix(base, whiteoutPrefix)
	if header.Typeflag != tar.TypeReg || header.Size != 0 || target == "" || target == "." || target == ".." ||
		strings.HasPrefix(target, whiteoutPrefix) {
		return false, refuse("entry %s has a name that images reserve and is no whiteout", Quote(name))
	}
	u.gone[path.Join(dir, target)] = true
	return true, nil
}

// hides reports whether this layer removes a file of a lower layer. Regardless of the order of its entries, a layer's whiteouts apply to
// lower layers and never to its own files.
//
//  1. The layer has the path itself, as a file or as a folder.
//  2. The layer removes the path or one of its folders.
//  3. The layer empties one of its folders.
//  4. The layer has a file in the place of one of its folders.
func (u *unpacked) hides(name string) bool {
	if _, known := u.shape[name]; known || u.gone[name] {
		return true
	}
	for parent := path.Dir(name); ; parent = path.Dir(parent) {
		if u.gone[parent] || u.opaque[parent] || u.shape[parent] {
			return true
		}
		if parent == "." {
			return false
		}
	}
}

// over merges the layer with the files of the lower layers.
func (u *unpacked) over(below []File) []File {
	kept := make([]File, 0, len(below)+len(u.files))
	for _, file := range below {
		if !u.hides(file.Path) {
			kept = append(kept, file)
		}
	}
	return append(kept, u.files...)
}
