// Package runtimedryrun answers one question: what would a cluster say to a version of a module?
//
// The objects are marked as the lifecycle manager marks them, and the API server is asked by dry runs: defaults, admission, owners and the
// safety of definitions with the objects that exist are in the answer.
//
// Non-goals: it writes nothing, follows no phases, and removes nothing: what the version no longer has is told by a comparison of versions.
package runtimedryrun
