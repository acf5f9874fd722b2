//go:build unix && !linux

package playground

import "syscall"

// boundToUs puts a child into its own process group, so that Ctrl-C on a terminal reaches only us and we end processes in order. Only Linux
// ends children with their parent.
func boundToUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
