package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxTagChain is how many tags may point to each other; git itself makes one.
const maxTagChain = 5

// lfsPointer is the prefix of a file whose content is stored by git LFS.
var lfsPointer = []byte("version https://git-lfs.github.com/spec/")

// commitOf follows tags to a commit, and returns it and its root folder.
func commitOf(objects storer.EncodedObjectStorer, hash plumbing.Hash) (commit, root plumbing.Hash, err error) {
	for range maxTagChain {
		tag, err := object.GetTag(objects, hash)
		if err != nil {
			break
		}
		hash = tag.Target
	}
	if objects.HasEncodedObject(hash) != nil {
		return commit, root, notFound("commit %s is not among what the repository gives out: push it to a branch or tag", hash)
	}
	found, err := object.GetCommit(objects, hash)
	if err != nil {
		return commit, root, invalid("commit %s cannot be read: %w", hash, err)
	}
	return found.Hash, found.TreeHash, nil
}

// treeWalk collects the files below one folder of a commit. Every visit to a file or folder counts: a few objects that refer to each other
// often can stand for more files than fit into memory.
type treeWalk struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call of read
	objects storer.EncodedObjectStorer
	limits  content.Limits

	files   []content.File
	entries int
	bytes   int64
}

// read returns the files below at, or the file at itself, by its base name.
func (w *treeWalk) read(root plumbing.Hash, at string) ([]content.File, error) {
	start := object.TreeEntry{Mode: filemode.Dir, Hash: root}
	if at != "" {
		tree, err := object.GetTree(w.objects, root)
		if err != nil {
			return nil, damaged("", err)
		}
		found, err := tree.FindEntry(at)
		if err != nil {
			return nil, notFound("path %s is not in it: correct it, or push it", content.Quote(at))
		}
		start = *found
	}
	if start.Mode == filemode.Dir {
		return w.files, w.folder(start.Hash, "")
	}
	return w.files, w.entry(start, path.Base(at))
}

func (w *treeWalk) folder(hash plumbing.Hash, at string) error {
	tree, err := object.GetTree(w.objects, hash)
	if err != nil {
		return damaged(at, err)
	}
	for _, entry := range tree.Entries {
		if err := w.ctx.Err(); err != nil {
			return fmt.Errorf("read the repository: %w", err)
		}
		if w.entries++; w.entries > w.limits.Entries {
			return refuse("it has more than %d files and folders: give a path that has less", w.limits.Entries)
		}
		if name := entry.Name; name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
			return refuse("folder %s has an entry with the name %s", content.Quote(at), content.Quote(name))
		}
		if err := w.entry(entry, path.Join(at, entry.Name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *treeWalk) entry(entry object.TreeEntry, name string) error {
	if _, err := content.CleanPath(name); err != nil {
		return err
	}
	switch entry.Mode {
	case filemode.Dir:
		return w.folder(entry.Hash, name)
	case filemode.Regular, filemode.Executable, filemode.Deprecated:
		return w.file(entry.Hash, name)
	case filemode.Symlink:
		return refuse("%s is a link: replace it by its target, or give a path without it", content.Quote(name))
	case filemode.Submodule:
		return refuse("%s is a submodule, which is not fetched: give a path without it, or copy it into the repository", content.Quote(name))
	default:
		return refuse("%s is neither file nor folder (mode %s)", content.Quote(name), entry.Mode)
	}
}

func (w *treeWalk) file(hash plumbing.Hash, name string) error {
	blob, err := object.GetBlob(w.objects, hash)
	if err != nil {
		return damaged(name, err)
	}
	if w.bytes += blob.Size; w.bytes > w.limits.Unpacked || blob.Size < 0 {
		return tooLarge("it has more than %d bytes: give a path that has less, or raise the limit", w.limits.Unpacked)
	}
	reader, err := blob.Reader()
	if err != nil {
		return damaged(name, err)
	}
	data := make([]byte, blob.Size)
	_, err = io.ReadFull(reader, data)
	if err := errors.Join(err, reader.Close()); err != nil {
		return damaged(name, err)
	}
	if bytes.HasPrefix(data, lfsPointer) {
		return invalid("%s is kept by git LFS, which is not read: commit the file itself, or give a path without it", content.Quote(name))
	}
	w.files = append(w.files, content.File{Path: name, Data: data})
	return nil
}

func damaged(name string, err error) error {
	return invalid("the repository cannot be read at %s: %w", content.Quote(name), err)
}
