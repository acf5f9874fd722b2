package shard

// Buckets is how many buckets there are. It never changes: two replicas that disagree about it would both own the same Kyma.
const Buckets = 64

// Owner says which buckets this replica works on.
type Owner interface {
	// Mine says whether the bucket, 0 to Buckets-1, is this replica's right now.
	Mine(bucket int) bool
}

// All is the Owner of a replica that is alone: every bucket is its own.
type All struct{}

// Mine is true for every bucket there is.
func (All) Mine(bucket int) bool { return bucket >= 0 && bucket < Buckets }

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
