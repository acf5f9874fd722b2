package rig

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// The kernel ends a child with a parent-death signal when the thread that started it ends, so one thread that never ends starts all of
// them.
var (
	keeper = make(chan func())
	keep   sync.Once
)

// launch starts a process that ends with this one.
func launch(command *exec.Cmd) error {
	keep.Do(func() {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread stays this goroutine's
			for work := range keeper {
				work()
			}
		}()
	})
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error, 1)
	keeper <- func() { result <- command.Start() }
	return <-result
}
