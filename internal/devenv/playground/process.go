//go:build unix

package playground

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// tailBytes of a log are added to the message about a process that failed.
	tailBytes = 2000
	// killPatience bounds the wait for a killed process to end.
	killPatience = 10 * time.Second
)

// launcher starts processes whose lives are tied to ours. It does so on one operating-system thread that never ends, because the kernel
// ends such a child with the thread that started it.
type launcher struct{ work chan func() }

func newLauncher() *launcher {
	l := &launcher{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range l.work {
			f()
		}
	}()
	return l
}

// process is a running program.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
	err  error         // how it ended; read it after done
}

// start starts a program that writes to its own log, appending to an existing one.
func (l *launcher) start(program, log string, env []string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = boundToUs()
	started := make(chan error, 1)
	l.work <- func() { started <- cmd.Start() }
	// The child has its own copy of the file by then.
	if err := errors.Join(<-started, file.Close()); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	p := &process{name: filepath.Base(program), log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// end sends SIGTERM and kills the process if it does not end. It returns an error when it had to be killed.
func (p *process) end(patience time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	if p.ended(patience) {
		return nil
	}
	_ = p.cmd.Process.Kill()
	if !p.ended(killPatience) {
		return fmt.Errorf("%s (process %d) still runs after SIGKILL", p.name, p.cmd.Process.Pid)
	}
	return fmt.Errorf("%s did not end within %s and was killed, see %s", p.name, patience, short(p.log))
}

func (p *process) ended(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// failure returns an error for a process that ended unexpectedly, with the end of its log. Call it after done.
func (p *process) failure() error {
	why := "it ended without an error"
	if p.err != nil {
		why = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself: %s\nits log is %s and ends with:\n%s", p.name, why, short(p.log), tail(p.log))
}

// tail returns the end of a log, from the beginning of a line.
func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = file.Seek(-tailBytes, io.SeekEnd) // on failure the whole log is read
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	if len(data) == tailBytes {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return strings.TrimSpace(string(data))
}
