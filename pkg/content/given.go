package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Given is a source of files that the caller has, such as those of ConfigMaps. Their digest is that of their canonical archive, which
// the store keeps. The reference is for people. The files are not changed, and must not change.
func Given(store *Store, reference string, files []File) Source {
	return &given{store: store, reference: reference, files: files}
}

type given struct {
	store     *Store
	reference string
	files     []File
}

func (g *given) Reference() string { return g.reference }

func (g *given) Resolve(context.Context) (Resolved, error) {
	digest, err := keep(g.store, g.files)
	if err != nil {
		return Resolved{}, fmt.Errorf("%s: %w", g.reference, err)
	}
	return Resolved{Digest: digest}, nil
}

func (g *given) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	return keptOr(ctx, g.store, resolved.Digest, func() (string, error) {
		now, err := g.Resolve(ctx)
		return now.Digest, err
	})
}

// keep stores files, in the order of their paths, and gives the digest of their canonical archive.
func keep(store *Store, files []File) (digest string, err error) {
	if len(files) == 0 {
		return "", invalid("there are no files: add at least one")
	}
	sorted := slices.SortedStableFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return store.PutTree(&Tree{Files: sorted})
}

// keptOr gives the tree with that digest from the store. When the store does not have it (any more), makeAgain puts it there, or puts
// something else there and says so by its digest.
func keptOr(ctx context.Context, store *Store, digest string, makeAgain func() (string, error)) (*Tree, error) {
	tree, err := store.treeWithin(ctx, digest)
	if !errors.Is(err, fs.ErrNotExist) {
		return tree, err
	}
	now, err := makeAgain()
	if err != nil {
		return nil, err
	}
	if now != digest {
		return nil, mismatch("content %s was asked for and by now its source has %s: resolve it again", digest, now)
	}
	return store.treeWithin(ctx, digest)
}
