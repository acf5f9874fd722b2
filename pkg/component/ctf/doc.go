// Package ctf answers one question: how is an OCM archive read and written without being corrupted?
//
// The Common Transport Format is a small OCI registry in a directory, a tar or a compressed tar: an index of artifacts, and their blobs by
// digest. Open reads one, Stage collects what goes into one, and Commit writes it: beside the archive first, under a lock, so that readers
// see the old archive or the new one. The same content gives the same bytes.
//
// Non-goals: it does not know component descriptors, verifies no signatures, and takes no foreign archive at its word: sizes, digests and
// names are checked when they are read.
package ctf
