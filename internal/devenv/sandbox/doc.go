// Package sandbox answers one question: how are a hub, runtimes and a registry started on this machine that stay until they are
// deleted, and how does the lifecycle manager run there?
//
// A sandbox is a folder and one process, its supervisor: the same program that made it, started again in a session of its own. The
// supervisor starts the control planes of internal/devenv/localcluster and a registry, and later, when a deployment asks for it, the
// manager's own program and the operators of the sample modules. All of them end with it, even when it is killed. It holds a lock on the
// folder as long as it lives, which tells a running sandbox from the remains of a killed one.
//
// Several sandboxes stand side by side: nothing is shared, every port is a free one, and everything listens on loopback.
//
// What it refuses to do: it touches no cluster but its own, ends no process whose command line does not name its folder, builds no program,
// and keeps nothing of a sandbox that was deleted.
package sandbox
