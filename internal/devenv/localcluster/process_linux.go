package localcluster

import "syscall"

// ownGroup puts a child into its own process group, so that Ctrl-C on a terminal reaches only us and Stop reaches all processes that the
// child started, and has the kernel end the child when we end.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
