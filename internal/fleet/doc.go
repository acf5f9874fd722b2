// Package fleet answers: how is a runtime reached, and what is in it right now?
//
// It holds one connection per runtime, decides when to dial and when not to (a dead runtime costs one dial per back-off and never delays
// another), and keeps a small picture of the objects that Manifests own there, fed by watch streams. A change in a runtime wakes exactly
// the Manifests that it concerns, through a source for a controller's queue; at rest nothing is called. Whole objects are kept of the kinds
// that somebody asks for with Interest.Keep, and what a runtime serves is asked for when somebody wants to know (Capabilities, Kinds).
//
// At rest a runtime costs one connection and one goroutine, which carry all of its watch streams; docs/adr/0003-watch-streams.md has the
// figures. Calls go over a second connection, which is closed when nobody has called for a while.
//
// It refuses to decide anything about modules, to write objects (pkg/apply does, on the Cluster handed out here), to run code or read
// files that a kubeconfig names, and to follow redirects. It keeps no informer, no reflector and no RESTMapper.
//
// What a kubeconfig may hold: an https server, inline certificate authority, and inline credentials (token, client certificate and key, or
// user name and password). Everything that runs a program (exec, auth-provider), reads a file of this machine, leads through a proxy of its
// own or acts as somebody else is refused, wherever in the file it stands. "insecure-skip-tls-verify: true" is accepted, because the
// upstream lifecycle-manager accepts it and existing access Secrets may carry it: only when it is written out, never together with a
// certificate authority, and each such connection is logged.
package fleet
