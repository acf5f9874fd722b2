// Package clustercache keeps the connections to runtimes and a reduced copy of the objects in them.
//
// It holds one connection per runtime, decides when to dial and when not to (a dead runtime costs one dial per back-off and never delays
// another), and caches what it needs of the objects that Manifests own there, fed by watch streams. A change in a runtime enqueues exactly
// the Manifests that it concerns, through a source for a controller's queue; without changes it makes no calls. It keeps whole objects only
// of the kinds that are tracked with Interest.Keep, and discovers what a runtime serves only on demand (Capabilities, Kinds).
//
// An idle runtime costs one connection and one goroutine, which carry all of its watch streams; docs/adr/0003-watch-streams.md has the
// figures. Calls go over a second connection, which is closed after a short time without calls. A Runtime is two state machines, of its
// connection and of each kind, and the code that feeds them: docs/adr/0021-runtime-states.md.
//
// Non-goals: it decides nothing about modules, writes no objects (pkg/apply does, with the Cluster that a Runtime provides), runs no code
// and reads no files that a kubeconfig names, and follows no redirects. It has no informer, no client-go reflector and no RESTMapper.
//
// What a kubeconfig may hold: an https server, inline certificate authority, and inline credentials (token, client certificate and key, or
// user name and password). Everything that runs a program (exec, auth-provider), reads a local file, sets its own proxy or impersonates
// another user is refused, wherever in the file it appears. "insecure-skip-tls-verify: true" is accepted, because the
// upstream lifecycle-manager accepts it and existing access Secrets may carry it: only when it is written out, never together with a
// certificate authority, and each such connection is logged.
package clustercache
