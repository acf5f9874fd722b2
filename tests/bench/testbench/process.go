package testbench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// tailBytes of a log go into the error about a process that failed.
	tailBytes = 3000
	// endPatience bounds the wait for a process to end after SIGTERM, killPatience that after SIGKILL.
	endPatience, killPatience = 25 * time.Second, 5 * time.Second
)

// launches starts processes on one thread that never ends, because the kernel ends a child that is bound to us with the thread that
// started it.
var launches = func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
}()

// process is a program that runs, and that ends with us at the latest.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it ended
	err  error         // how it ended; read it after done
}

// launch starts a program that writes to its own log, which is continued when there is one.
func launch(program, log string, env []string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	launches <- func() { started <- cmd.Start() }
	if err := errors.Join(<-started, file.Close()); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	p := &process{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID returns the process's number.
func (p *process) PID() int { return p.cmd.Process.Pid }

// Running reports whether it has not ended.
func (p *process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Log returns the end of what it wrote.
func (p *process) Log() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	if len(data) > tailBytes {
		data = data[len(data)-tailBytes:]
	}
	return strings.TrimSpace(string(data))
}

// Kill ends it by SIGKILL. One that has ended is fine.
func (p *process) Kill() error {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // an error means that it is gone
	return p.await(killPatience)
}

// Stop asks it to end, and waits.
func (p *process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.await(endPatience)
}

// Spent returns the processor time of a process that has ended.
func (p *process) Spent() time.Duration {
	<-p.done
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

func (p *process) await(patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("process %d (%s) still runs after %s", p.PID(), p.cmd.Path, patience)
	}
}
