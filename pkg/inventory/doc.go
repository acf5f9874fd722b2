// Package inventory answers four questions about the objects of one installation: which are ours, which must be applied, which must be
// pruned or waited for, and in which order they are applied and deleted.
//
// The record is a list of [Entry]: identity, the hash of the content that was applied last, and two values observed after that write (the
// UID and a hash of the fields that we own). With it, an object that is in order is recognised from its metadata alone, and a restarted
// operator applies nothing needlessly.
//
// The package is pure: it neither reads nor writes a cluster, has no clock and no client, and it never decides whether a delete is allowed.
// [Decide] only returns that an entry is no longer wanted. Whether the live object still carries our owner mark is checked by the code that
// deletes it. The package does not depend on the API of this project either, so every operator can use it.
package inventory
