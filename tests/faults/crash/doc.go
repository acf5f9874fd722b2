// Package crash checks that the manager reaches the same end state wherever it dies.
//
// A clean run of an operation through the proxies of a rig lists every call that changed something, on the hub and in runtimes. Each call
// is two points: the manager is killed (SIGKILL) before the call reaches the server, and after the server has carried it out but before the
// manager receives the response. At each point the operation begins again, the manager dies there, is started again, and must reach the end
// state of the clean run, without anything on the way that is never allowed.
//
// The package does not define operations (package operation) or a correct end (package oracle), and it does not count Leases and Events,
// which a manager writes at its own pace: a death there is a death at a random moment.
package crash
