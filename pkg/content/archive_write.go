package content

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
)

// archiveMode is the mode of every file of a canonical archive.
const archiveMode = 0o644

// Archive packs files into their canonical tar archive: sorted by path, without times, owners and folders, not compressed.
// The same files give the same bytes on every machine, and so the same digest. The file without a path, which is content that was not an
// archive, is named ".".
//
// Archive panics if a path contains a NUL byte, which no path of a Tree does; Store.PutTree checks that.
func Archive(files []File) []byte {
	sorted := slices.SortedStableFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, file := range sorted {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: cmp.Or(file.Path, "."), Size: int64(len(file.Data)), Mode: archiveMode,
		}
		if err := writer.WriteHeader(header); err != nil {
			panic(fmt.Errorf("archive a file that no Tree has: %w", err))
		}
		_, _ = writer.Write(file.Data) // a buffer takes everything, and the size is right
	}
	_ = writer.Close()
	return packed.Bytes()
}

// PutTree stores a tree as its canonical archive and returns the digest of that archive, which Tree accepts.
func (s *Store) PutTree(tree *Tree) (digest string, err error) {
	limits := s.Limits.OrDefault()
	if err := checkTree(tree, limits); err != nil {
		return "", err
	}
	packed := Archive(tree.Files)
	if size := int64(len(packed)); size > limits.Unpacked {
		return "", tooLarge("the content has %d bytes and %d are accepted: make it smaller or raise the limit", size, limits.Unpacked)
	}
	sum := sha256.Sum256(packed)
	digest = digestPrefix + hex.EncodeToString(sum[:])
	if _, err := s.Path(digest); err == nil {
		return digest, nil
	}
	if _, err := s.Put(digest, int64(len(packed)), bytes.NewReader(packed)); err != nil {
		return "", err
	}
	return digest, nil
}

// Tree returns the content that PutTree stored under a digest, its files sorted by path. The error is fs.ErrNotExist if it is not stored.
func (s *Store) Tree(digest string) (*Tree, error) {
	path, err := s.Path(digest)
	if err != nil {
		return nil, err
	}
	return unpackOne(path, s.Limits, &unpacker{canonical: true})
}

// treeWithin is Tree for a caller that may have to wait for room.
func (s *Store) treeWithin(ctx context.Context, digest string) (*Tree, error) {
	path, err := s.Path(digest)
	if err != nil {
		return nil, err
	}
	if err := takeRoomFor(ctx, s.Limits, path); err != nil {
		return nil, err
	}
	return s.Tree(digest)
}

// checkTree checks that Tree will be able to read the tree back.
func checkTree(tree *Tree, limits Limits) error {
	if len(tree.Files) == 0 {
		return invalid("the content holds no file")
	}
	if len(tree.Files) > limits.Entries {
		return refuse("it has more than %d files", limits.Entries)
	}
	known, total := shape{}, int64(0)
	for _, file := range tree.Files {
		name := file.Path
		if name == "" && len(tree.Files) == 1 {
			name = "file"
		}
		if clean, err := CleanPath(name); err != nil {
			return err
		} else if clean != name || !fs.ValidPath(name) || name == "." {
			return refuse("path %s is not clean", Quote(name))
		}
		if err := known.add(name, true); err != nil {
			return err
		}
		if total += int64(len(file.Data)); total > limits.Unpacked {
			return tooLarge("it has more than %d bytes: make it smaller or raise the limit", limits.Unpacked)
		}
	}
	return nil
}
