// Package crash answers one question: does the manager reach the same end wherever it dies?
//
// A clean run of an operation through the proxies of a rig lists every call that changed something, on the hub and in runtimes. Each is
// two points: the manager is killed (SIGKILL) before the call reaches the server, and after the server has carried it out but before
// the manager hears of it. At each point the operation begins again, the manager dies there, is started again, and must come to
// the end state of the clean run, without anything on the way that is never allowed.
//
// What it refuses to do: it does not know what operations are (package operation) nor what a right end is (package oracle), and it
// does not count Leases and Events, which a manager writes at its own pace: a death there is a death at a random moment.
package crash
