// Package shard answers: which Kymas are mine, and may I still write?
//
// Every Kyma falls into one of 64 buckets by its namespace and name, and whatever belongs to a Kyma (its Manifests, its runtime)
// falls into the bucket of that Kyma. A controller asks an Owner before it works on one, and works under the context that it gets: the
// transport refuses every write that carries no such context, or one whose time is up.
//
// All is the Owner of a replica that is alone. A Member shares the buckets with other replicas: each renews a heartbeat Lease of its
// own, one of them writes the table of who has what (compare-and-swap), and a replica that could not renew stops before anybody may take
// over. What is decided is decided by package allot; here it is carried out.
//
// It refuses to compare clocks of two machines, to believe that somebody is dead before his heartbeat was deleted at the version that was
// seen to be old, and to know what a Kyma is.
package shard
