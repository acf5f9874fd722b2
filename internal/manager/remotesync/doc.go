// Package remotesync writes the objects that runtimes need beside their modules, and only those that differ.
//
// A copy is an object that the hub needs in a runtime: the namespace of the modules, the CustomResourceDefinitions that users need there,
// the entries of the catalog, the image pull Secret. For every copy the mirror remembers which content it saw to be equal at which version
// of the object (UID and resourceVersion; of a definition UID and a digest of everything but its status). While the streams of the runtime
// show the same version, no call is made; otherwise the object is read, compared, and written by server-side apply only if it differs. The
// response to a write is learned, so that the write's own event enqueues nothing.
//
// Non-goals: it deletes nothing that another field manager wrote, removes no version of a definition while objects are stored in it (they
// are stored again first), and does not decide what a runtime needs.
package remotesync
