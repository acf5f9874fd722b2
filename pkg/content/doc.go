// Package content answers: which bytes does a module consist of, and are they the ones that were asked for?
//
// Content is named by digest. It is streamed from its source into a temporary file, counted and hashed on the way, and only what
// carries the right digest gets its name in the store; what was verified is what is handed out. A Store may be shared by several
// processes: a name appears by an atomic rename of a complete file or not at all.
//
// The package refuses to fetch anything by tag (a tag is resolved to a digest, and that is fetched), to answer from a file that it
// has not verified since it started, to unpack to disk, to follow links in archives, to send credentials to another host than the
// one they are for, and to wait without end.
// Everything that it refuses is an *Error whose Reason is one of the reasons that a Manifest's conditions use.
package content
