package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// RecordStore is where the record of an installation stands: an index, which has what fits, and shards with the rest. A shard never
// changes, and the index names those that count.
type RecordStore interface {
	// FindShard returns which of the named shards holds the same entries; "" when none does.
	FindShard(named []string, shard inventory.Shard) string
	// CreateShard stores a shard. It returns its name also with an error after which it may stand there.
	CreateShard(ctx context.Context, shard inventory.Shard) (name string, err error)
	// DeleteShards deletes shards. One that does not exist is no error.
	DeleteShards(ctx context.Context, names []string) error
	// Abandon is DeleteShards for those that were created in vain. A store in which another writer may have found and named the same shard
	// leaves them.
	Abandon(ctx context.Context, names []string) error
	// WriteIndex stores the index. With an error of Classify other than ClassUnreachable, ClassInternal and ClassCanceled it was not stored.
	WriteIndex(ctx context.Context, inline []inventory.Entry, shards []string) error
}

// SaveRecord stores entries, and returns the shards that the index names now; named are those that it named before, which it returns with
// an error.
//
// New shards are created before the index names them, and old ones are deleted after it no longer does. So whichever call is the last
// before a crash, every shard that the index names is there, and a superfluous shard is the worst that is left. What was created in vain
// is deleted, unless it is unknown whether the index was stored.
func SaveRecord(ctx context.Context, entries []inventory.Entry, named []string, store RecordStore) ([]string, error) {
	inline, shards := inventory.Split(entries)
	names, created, err := createShards(ctx, shards, named, store)
	if err == nil {
		err = store.WriteIndex(ctx, inline, names)
		if isOpen(err) {
			return named, err
		}
	}
	if err != nil {
		return named, errors.Join(err, store.Abandon(context.WithoutCancel(ctx), created))
	}
	stale := slices.DeleteFunc(slices.Clone(named), func(name string) bool { return slices.Contains(names, name) })
	return names, store.DeleteShards(ctx, stale)
}

// createShards returns the names of all shards, and of those that were created or may have been, also with an error.
func createShards(
	ctx context.Context, shards []inventory.Shard, named []string, store RecordStore,
) (names, created []string, err error) {
	for _, shard := range shards {
		name := store.FindShard(named, shard)
		if name == "" {
			if name, err = store.CreateShard(ctx, shard); name != "" {
				created = append(created, name)
			}
			if err != nil {
				return nil, created, err
			}
		}
		names = append(names, name)
	}
	return names, created, nil
}

// isOpen reports whether a write may have been carried out in spite of its error: the answer was lost, or is none.
func isOpen(err error) bool {
	switch apply.Classify(err) {
	case apply.ClassUnreachable, apply.ClassInternal, apply.ClassCanceled:
		return true
	default:
		return false
	}
}
