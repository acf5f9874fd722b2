package sharding

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// Buckets is the number of buckets. It never changes.
const Buckets = assignment.Buckets

// Ownership is the relation of this replica to a bucket.
type Ownership int

const (
	// Elsewhere is a bucket of another replica, or of none: what is held for it here is released.
	Elsewhere Ownership = iota
	// Paused is a bucket that must not be worked on, and may be ours again in a moment: what is held for it stays. Once it is ours, all that
	// belongs to it is enqueued.
	Paused
	// Mine is a bucket of this replica.
	Mine
)

// Owner reports which buckets this replica works on.
type Owner interface {
	// Mine reports whether this replica owns the bucket, 0 to Buckets-1, right now.
	Mine(bucket int) bool
	// Begin begins a pass over something in a bucket. Only if the result is Mine may it write, with the returned context; that ends when the
	// bucket is lost. end must be called after the pass, whatever the result: until then no other replica gets the bucket.
	Begin(ctx context.Context, bucket int) (pass context.Context, end func(), standing Ownership)
}

// All is the Owner of a single replica: it owns every bucket.
type All struct{}

// Mine returns true for every valid bucket.
func (All) Mine(bucket int) bool { return bucket >= 0 && bucket < Buckets }

// Begin always permits the pass.
func (All) Begin(ctx context.Context, bucket int) (context.Context, func(), Ownership) {
	if !(All{}).Mine(bucket) {
		return ctx, func() {}, Elsewhere
	}
	return ctx, func() {}, Mine
}

// The 32-bit FNV-1a constants. Written out, since a hash that decides which replica writes must not depend on a library's default.
const (
	offset32 = 2166136261
	prime32  = 16777619
)

// Bucket returns the bucket of the Kyma of that namespace and name: FNV-1a of "<namespace>/<name>", modulo Buckets. It allocates nothing,
// as every event of every Manifest calls it.
func Bucket(namespace, name string) int {
	hash := mix(mix(mix(offset32, namespace), "/"), name)
	return int(hash % Buckets)
}

func mix(hash uint32, text string) uint32 {
	for i := range len(text) {
		hash = (hash ^ uint32(text[i])) * prime32
	}
	return hash
}
