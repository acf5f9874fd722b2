//go:build !linux

package rig

import (
	"os/exec"
	"syscall"
)

// launch starts a process in its own group; only Linux can end it with this one.
func launch(command *exec.Cmd) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return command.Start()
}
