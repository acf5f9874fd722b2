package playground

import "syscall"

// boundToUs puts a child into a process group of its own, so that Ctrl-C on a terminal reaches only us and we end things in order, and
// has the kernel end the child when we end.
func boundToUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
