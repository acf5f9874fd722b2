// Package shard answers: which Kymas are mine?
//
// Every Kyma falls into one of 64 buckets by its namespace and name, and whatever belongs to a Kyma (its Manifests, its runtime)
// falls into the bucket of that Kyma. A controller asks an Owner before it works on one. Today one replica owns all buckets.
// Issue 5 adds the Owner that splits them: one heartbeat Lease per replica and one compare-and-swap assignment object say who has
// which bucket and until when, and the transport checks that deadline before every write. Nothing outside this package changes then.
//
// It refuses to know how many replicas there are, to talk to anybody and to remember anything: a bucket is a pure function of a name.
package shard
