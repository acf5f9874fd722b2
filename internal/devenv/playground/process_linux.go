package playground

import "syscall"

// boundToUs puts a child into its own process group, so that Ctrl-C on a terminal reaches only us and we end processes in order, and has
// the kernel end the child when we end.
func boundToUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
