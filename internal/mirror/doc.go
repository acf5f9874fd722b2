// Package mirror answers: does a runtime hold the objects that it has to hold beside its modules, and what of them has to be written?
//
// A copy is an object that the hub wants in a runtime: the namespace of the modules, the CustomResourceDefinitions that people need there,
// the entries of the catalog, the image pull Secret. For every copy the mirror remembers which content at which moment of the object
// (UID and resourceVersion) it saw to be equal. While the streams of the runtime tell the same moment, nothing is called; otherwise the
// object is read, compared, and written by server-side apply only if it differs. The answer to a write is learned, so that its echo wakes
// nobody.
//
// It refuses to delete what another field manager brought, to take a definition away from objects that are stored in a version of it
// that is about to go (they are stored anew first), and to decide what a runtime has to hold.
package mirror
