package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// StaticSource returns a Source of files in memory, such as those of ConfigMaps. Their digest is that of their canonical archive, which the
// store keeps. The reference is for messages. The caller must not change the files.
func StaticSource(store *Store, reference string, files []File) Source {
	return &static{store: store, reference: reference, files: files}
}

type static struct {
	store     *Store
	reference string
	files     []File
}

func (g *static) Reference() string { return g.reference }

func (g *static) Resolve(context.Context) (Resolved, error) {
	digest, err := g.store.PutFiles(g.files)
	if err != nil {
		return Resolved{}, fmt.Errorf("%s: %w", g.reference, err)
	}
	return Resolved{Digest: digest}, nil
}

func (g *static) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	return g.store.TreeOr(ctx, resolved.Digest, func() (string, error) {
		now, err := g.Resolve(ctx)
		return now.Digest, err
	})
}

// PutFiles stores files, sorted by path, and returns the digest of their canonical archive.
func (s *Store) PutFiles(files []File) (digest string, err error) {
	if len(files) == 0 {
		return "", invalid("there are no files: add at least one")
	}
	sorted := slices.SortedStableFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return s.PutTree(&Tree{Files: sorted})
}

// TreeOr returns the tree with that digest. If the store has lost it, refetch stores it again, or stores other content, which the returned
// digest reveals.
func (s *Store) TreeOr(ctx context.Context, digest string, refetch func() (string, error)) (*Tree, error) {
	tree, err := s.treeWithin(ctx, digest)
	if !errors.Is(err, fs.ErrNotExist) {
		return tree, err
	}
	now, err := refetch()
	if err != nil {
		return nil, err
	}
	if now != digest {
		return nil, mismatch("content %s was requested, but its source has %s now: resolve it again", digest, now)
	}
	return s.treeWithin(ctx, digest)
}
