// Package sharding decides which Kymas this replica works on, and whether it may still write.
//
// Every Kyma falls into one of 64 buckets by its namespace and name, and whatever belongs to a Kyma (its Manifests, its runtime) falls into
// the bucket of that Kyma. A controller calls Owner.Begin before it works on one, and works with the context that it gets: the transport
// refuses every write that carries no such context, or one whose time is up.
//
// All is the Owner of a single replica. A Member shares the buckets with other replicas: each renews its own heartbeat Lease, one of them
// writes the assignment of the buckets (compare-and-swap), and a replica that could not renew stops before another one may take over.
// Package assignment makes the decisions; this package carries them out.
//
// Non-goals: it compares no clocks of two machines, declares no replica dead before its heartbeat was deleted at the version that was seen
// to be old, and does not know what a Kyma is.
package sharding
