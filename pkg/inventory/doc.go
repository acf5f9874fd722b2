// Package inventory answers four questions about the objects of one installation: which are ours, which must be applied,
// which must be pruned or waited for, and in which order they come and go.
//
// The record is a list of [Entry]: identity, the hash of the content that was applied last, and two marks of what was seen after
// that write (the UID and a hash of the fields that we own). With it, an object that is in order is recognised from its metadata
// alone, and an operator that restarts applies nothing needlessly.
//
// The package is pure: it neither reads nor writes a cluster, has no clock and no client, and it never decides whether a delete is
// allowed. [Decide] only says that an entry is no longer wanted. Whether the live object still carries our owner mark is judged by
// who deletes it. It does not know the API of this project either, so every operator can use it.
package inventory
