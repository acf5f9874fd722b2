// Package statusreader answers one question: what do I must read of a cluster to show its modules, in how few requests?
//
// One list for each kind: Kymas, Manifests, templates, releases, the records of direct installations; and then, where modules run in
// this very cluster, one for each kind of their custom resources and of the objects that run their operators. What may not be read,
// or cannot be, is part of the answer, not an error: see modulestatus.Unread. A kind that the cluster does not serve is simply not there.
//
// What it refuses to do: it decides nothing, writes nothing, and reads no runtime from its hub.
package statusreader
