package git

import (
	"context"
	"errors"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// localRepository is a local folder. Its objects are read in place: go-git's file:// transport would need the git program.
type localRepository struct {
	opened *gogit.Repository
	found  references
}

func openLocal(folder string) (repository, error) {
	opened, err := gogit.PlainOpen(folder)
	if errors.Is(err, gogit.ErrRepositoryNotExists) {
		return nil, notFound("there is no git repository: correct the path")
	}
	if err != nil {
		return nil, invalid("the git repository cannot be opened: %w", err)
	}
	local := &localRepository{opened: opened, found: references{hashes: map[string]plumbing.Hash{}, peeled: map[string]plumbing.Hash{}}}
	iterator, err := opened.References()
	if err == nil {
		err = iterator.ForEach(local.add)
	}
	if err != nil {
		return nil, invalid("the git repository's branches and tags cannot be read: %w", err)
	}
	return local, nil
}

func (l *localRepository) add(reference *plumbing.Reference) error {
	if reference.Type() != plumbing.HashReference {
		return nil
	}
	name := reference.Name().String()
	l.found.hashes[name] = reference.Hash()
	if tag, err := object.GetTag(l.opened.Storer, reference.Hash()); err == nil && tag.TargetType == plumbing.CommitObject {
		l.found.peeled[name] = tag.Target
	}
	return nil
}

func (l *localRepository) refs() references { return l.found }

func (l *localRepository) objects(context.Context, commitRef) (storer.EncodedObjectStorer, func(), error) {
	return l.opened.Storer, func() {}, nil
}

func (l *localRepository) close() {}
