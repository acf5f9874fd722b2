// Package sandbox starts a hub, runtimes and a registry on this machine that stay until they are deleted, and runs the lifecycle manager
// there.
//
// A sandbox is a folder and one process, its supervisor: the program that created it, started again in a new session. The supervisor starts
// the control planes of internal/devenv/localcluster and a registry, and later, when a deployment requests it, the manager's own program
// and the operators of the sample modules. All of them end with it, even when it is killed. It holds a lock on the folder as long as it
// lives, which distinguishes a running sandbox from the remains of a killed one.
//
// Several sandboxes run side by side: nothing is shared, every port is a free one, and everything listens on loopback.
//
// Local clusters need a Unix. Elsewhere, such as on Windows, there is no sandbox, and Start says what to use instead.
//
// It touches no cluster but its own, ends no process whose command line does not name its folder, builds no program, and keeps nothing of a
// deleted sandbox.
package sandbox
