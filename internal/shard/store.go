package shard

import (
	"context"
	"errors"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/shard/allot"
)

// ErrChanged says that something is not at the version that was named: somebody else wrote it, or it is gone.
var ErrChanged = errors.New("it was changed meanwhile")

// Store is what the replicas share. Every write names the version that it replaces, empty where nothing may be there yet, and fails with
// ErrChanged where that is not what is there.
type Store interface {
	// Snapshot is everything at one moment after it was asked for.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Beat writes the heartbeat of a replica.
	Beat(ctx context.Context, name, version string) (written string, err error)
	// Bury deletes the heartbeat of a replica.
	Bury(ctx context.Context, name, version string) error
	// Reign writes who stands for all replicas; an empty holder gives the place back.
	Reign(ctx context.Context, holder, version string) error
	// Write writes the table.
	Write(ctx context.Context, table allot.Table, version string) error
}

// Snapshot is what the replicas share, at one moment.
type Snapshot struct {
	// Beats are the versions of the heartbeats, by name of the replica.
	Beats map[string]string
	// Throne says who stands for all replicas.
	Throne Throne
	// Table is who has what. Its version is empty while there is none.
	Table   allot.Table
	Version string
}

// Throne is the place of the one replica that stands for all of them: it writes the table, and keeps managers out that know nothing of
// shares.
type Throne struct {
	// Version is empty while nobody ever sat there.
	Version string
	// Holder is empty when it was given back.
	Holder string
	// Foreign says that the holder is none of ours.
	Foreign bool
	// For is how long the holder is to be waited for.
	For time.Duration
}
