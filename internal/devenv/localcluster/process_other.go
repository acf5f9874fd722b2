//go:build unix && !linux

package localcluster

import "syscall"

// ownGroup puts a child into its own process group, so that Ctrl-C on a terminal reaches only us and Stop reaches all processes that the
// child started. Only Linux ends children with their parent; elsewhere the next Start sweeps them.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
