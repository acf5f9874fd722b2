//go:build unix

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

// launcher is the program that envtest starts in place of etcd and the API server, because envtest has no means to tie their lives to ours.
// It writes its process id, which the program inherits by exec, and has the kernel end it with its parent. Stop and the sweep of later
// starts find processes by this id.
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

// errEnded is the error for a program that ended without a failure but should have continued.
var errEnded = errors.New("it should go on")

// child is a program that was started directly.
type child struct {
	name string
	done chan struct{} // closed when it ended
	err  error         // how it ended; read it after done
}

// launch starts a program. One of its arguments must be in the scratch folder: a later sweep recognises the process by it.
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

// killWhenDone ends all processes when the context ends before release is called. It repeats this, because the cancelled start may just be
// starting the next program.
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

// lockedThread runs functions on one operating-system thread, which lives until close is called. The kernel ends a child with a
// parent-death signal when the *thread* that started it ends, and the Go runtime may end other threads at any time.
type lockedThread struct{ work chan func() }

func newLockedThread() *lockedThread {
	k := &lockedThread{work: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
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

// close ends the thread, and with it the processes that it started: call it when they have ended.
func (k *lockedThread) close() { close(k.work) }

// quote quotes a path as one word for a shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// commandLine returns the command line of a process, "" when there is no such process.
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
