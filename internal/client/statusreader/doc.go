// Package statusreader answers one question: which objects of a cluster are needed to show its modules, in how few requests?
//
// It sends one list request for each kind: Kymas, Manifests, templates, releases, and the records of direct installations; Kymas that are
// selected from many, and their Manifests, take one for each page. If modules run in this very cluster, it sends one more for each kind of
// their custom resources and of the objects that run their operators. A kind that may not or cannot be read is part of the result, not an
// error: see modulestatus.Unread. A kind that the cluster does not serve has no objects.
//
// Non-goals: it decides nothing, writes nothing, and reads no runtime from its hub.
package statusreader
