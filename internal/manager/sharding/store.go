package sharding

import (
	"context"
	"errors"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// ErrChanged reports that something is not at the named version: another client wrote it, or it is gone.
var ErrChanged = errors.New("it was changed meanwhile")

// Store is what the replicas share. Every write names the version that it replaces, empty where nothing may exist yet, and fails with
// ErrChanged where another version exists.
type Store interface {
	// Snapshot returns everything at one moment after the call.
	Snapshot(ctx context.Context) (Snapshot, error)
	// RenewHeartbeat writes the heartbeat of a replica.
	RenewHeartbeat(ctx context.Context, name, version string) (written string, err error)
	// DeleteHeartbeat deletes the heartbeat of a replica.
	DeleteHeartbeat(ctx context.Context, name, version string) error
	// AcquireLeadership writes the leader of all replicas; an empty holder releases the leadership.
	AcquireLeadership(ctx context.Context, holder, version string) error
	// Write writes the table.
	Write(ctx context.Context, table assignment.Assignment, version string) error
}

// Snapshot is what the replicas share, at one moment.
type Snapshot struct {
	// Heartbeats are the versions of the heartbeats, by name of the replica.
	Heartbeats map[string]string
	// Leader is the leader of the replicas.
	Leader LeaderRecord
	// Table is the assignment of the buckets. Its version is empty while there is none.
	Table   assignment.Assignment
	Version string
}

// LeaderRecord is the leadership of the replicas: the leader writes the table, and keeps managers without sharding out.
type LeaderRecord struct {
	// Version is empty before the first leader.
	Version string
	// Holder is empty when the leadership was released.
	Holder string
	// Foreign means that the holder is none of ours.
	Foreign bool
	// For is how long to wait for the holder.
	For time.Duration
}
