// Package installer answers one question with one call each: how does an operator or a tool that has a rest.Config, and no operator of
// ours, install content into a cluster ([Install]), see whether it is there and runs ([Check]), see what an installation would change
// ([Diff]) and take it down again ([Uninstall])?
//
// It is the engine of the Manifest controller without its API: content is fetched and verified by pkg/content, rendered in memory by
// pkg/render, applied by server-side apply through pkg/apply, and judged by pkg/health. No CustomResourceDefinition of ours is needed.
//
// # What is applied, and in which order
//
//  1. CRDs, and each is established before anything else is written.
//  2. Sources one after the other. A later one waits until everything before it is ready. Within a source, namespaces come first, then
//     definitions, configuration, workloads, webhooks and custom resources.
//  3. CustomResources, created once when everything before them is ready: a user may change or delete them afterwards.
//  4. What was installed before and is no longer declared is deleted, after everything else succeeded.
//
// # What is recorded
//
// A Secret "manifest.<name>" in Installation.Namespace says what is installed. It is written before the first object, so that a process
// that dies leaks nothing, and again after the last. What does not fit into it stands in immutable Secrets that are named by their content.
// A caller's own labels and annotations on it say what a later one needs to know without its sources; see [Recorded] and [Records].
// All writes are bound to the version that was read: of two calls at once, one gets an error with the reason [ReasonRecordConflict],
// and what both of them wrote is recorded.
//
// # Hooks
//
// Hooks of a Helm chart run around the objects of their Source, once for each release: see docs/spec/sources.md. How far they got, and
// those of the removal, are in the record, so that Uninstall needs no Source. No installation goes back by itself, so an earlier version is
// an upgrade, too.
//
// # What charts generate and look up
//
// A Secret "<name>.generated" in Installation.Namespace has the passwords, keys and certificates that charts have generated, and what their
// releases have looked up in the cluster. It is an object of the installation, and the first to be applied: see docs/spec/sources.md. It is
// never made anew by itself (content.ReasonGeneratedValuesLost).
//
// # Waiting
//
// With Installation.Wait, Install and Uninstall wait for the cluster by watches, with a read now and then in case a watch misses something.
// Without, they do what can be done now, and a later call continues from there.
//
// # What it refuses to do
//
// It takes over no object of another owner unless Ownership says so, deletes nothing that does not carry its owner mark, changes no
// CustomResourceDefinition in a way that breaks objects unless AllowCRDChanges names the rule, and never removes everything because the
// content came out empty. It keeps no goroutine and no cache after a call but those of a [Cluster] that the caller shares.
package installer
