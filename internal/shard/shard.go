package shard

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/internal/shard/allot"
)

// Buckets is how many buckets there are. It never changes.
const Buckets = allot.Buckets

// Standing is how a bucket stands to this replica.
type Standing int

const (
	// Elsewhere is another replica's, or nobody's: what is held for it here is let go.
	Elsewhere Standing = iota
	// Paused is nothing to work on at the moment, and may be ours again in a moment: what is held for it stays. Once it is ours, all that
	// belongs to it is enqueued.
	Paused
	// Mine is this replica's.
	Mine
)

// Owner says which buckets this replica works on.
type Owner interface {
	// Mine says whether the bucket, 0 to Buckets-1, is this replica's right now.
	Mine(bucket int) bool
	// Begin begins a pass over something in a bucket. Only if the standing is Mine may it write, with the context that it gets; that ends
	// when the bucket is lost. end is to be called when the pass is over, whatever the standing: until then nobody else gets the bucket.
	Begin(ctx context.Context, bucket int) (pass context.Context, end func(), standing Standing)
}

// All is the Owner of a replica that is alone: every bucket is its own.
type All struct{}

// Mine is true for every bucket there is.
func (All) Mine(bucket int) bool { return bucket >= 0 && bucket < Buckets }

// Begin always may.
func (All) Begin(ctx context.Context, bucket int) (context.Context, func(), Standing) {
	if !(All{}).Mine(bucket) {
		return ctx, func() {}, Elsewhere
	}
	return ctx, func() {}, Mine
}

// The 32-bit FNV-1a constants. Written out, since a hash that decides who writes must not depend on anybody's default.
const (
	offset32 = 2166136261
	prime32  = 16777619
)

// Bucket is the bucket of the Kyma of that namespace and name: FNV-1a of "<namespace>/<name>", modulo Buckets.
// It allocates nothing, as every event of every Manifest asks it.
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
