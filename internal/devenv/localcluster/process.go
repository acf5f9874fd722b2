package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// launcher is the program that envtest starts in place of etcd and the API server, because envtest has no means to
// bind their lives to ours. It notes its process id, which the program inherits by exec, and has the kernel end it
// with its parent. The id is what Stop and the sweep of later starts go by.
const launcher = `#!/bin/sh
echo $$ >%[1]s
exec %[2]s %[3]s "$@"
`

// assign makes one of envtest's programs start through a launcher and write to its log.
func (cp *ControlPlane) assign(program string, path *string, stdout, stderr *io.Writer) error {
	log, err := cp.openLog(program)
	if err != nil {
		return err
	}
	binder := ""
	if setpriv, err := exec.LookPath("setpriv"); err == nil && runtime.GOOS == "linux" {
		binder = quote(setpriv) + " --pdeathsig KILL --"
	}
	script := fmt.Sprintf(launcher, quote(cp.scratch.pidFile(program)), binder, quote(filepath.Join(cp.assets, program)))
	*path, *stdout, *stderr = filepath.Join(cp.scratch.dir, program), log, log
	return os.WriteFile(*path, []byte(script), 0o700) //nolint:gosec // it must be executable; the folder is ours alone
}

// errEnded stands for an end without a failure, which is one nevertheless.
var errEnded = errors.New("it should go on")

// child is a program that was started directly.
type child struct {
	name string
	done chan struct{} // closed when it ended
	err  error         // how it ended; read it after done
}

// launch starts a program. One of its arguments must lie in the scratch folder: that is how a later sweep knows it.
func (cp *ControlPlane) launch(program string, env []string, args ...string) (*child, error) {
	log, err := cp.openLog(program)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(cp.assets, program), args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = ownGroup()
	if err := cp.keeper.do(cmd.Start); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	c := &child{name: program, done: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, os.WriteFile(cp.scratch.pidFile(program), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}

// ended returns an error when a child that should run does not.
func (cp *ControlPlane) ended(children []*child) error {
	for _, c := range children {
		select {
		case <-c.done:
			return fmt.Errorf("%s ended: %w%s", c.name, errors.Join(errEnded, c.err), cp.tail(c.name))
		default:
		}
	}
	return nil
}

// killWhenDone ends all processes when the context ends before release is called. It repeats itself, because the start
// that is being cancelled may just be starting the next program.
func (s *scratch) killWhenDone(ctx context.Context) (release func()) {
	released := make(chan struct{})
	go func() {
		select {
		case <-released:
			return
		case <-ctx.Done():
		}
		for {
			s.kill()
			select {
			case <-released:
				return
			case <-time.After(pollInterval):
			}
		}
	}()
	return func() { close(released) }
}

// lockedThread runs functions on one thread of the operating system, which lives as long as the keeper. The kernel ends a
// child that asked for it when the *thread* ends that started it, and the Go runtime may end other threads at will.
type lockedThread struct{ work chan func() }

func newLockedThread() *lockedThread {
	k := &lockedThread{work: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread goes with the goroutine
		for f := range k.work {
			f()
		}
	}()
	return k
}

func (k *lockedThread) do(f func() error) error {
	result := make(chan error, 1)
	k.work <- func() { result <- f() }
	return <-result
}

// close ends the thread, and with it what it started: call it when that is gone.
func (k *lockedThread) close() { close(k.work) }

// quote makes a path one word of a shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// commandLine returns what a process was started with, "" when there is no such process.
func commandLine(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil {
		return string(data)
	}
	if _, err := os.Stat("/proc/self"); !errors.Is(err, os.ErrNotExist) {
		return ""
	}
	// Systems without /proc.
	out, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(out)
}
