//go:build unix && !linux

package playground

import "syscall"

// boundToUs puts a child into a process group of its own, so that Ctrl-C on a terminal reaches only us and we end things in order.
// Only Linux ends children with their parent.
func boundToUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
