//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	// endPatience is how long a supervisor may take to end everything in order; killPatience is the limit after SIGKILL.
	endPatience  = 2 * time.Minute
	killPatience = 10 * time.Second
)

// Delete ends all processes of a sandbox and removes its folder. It also cleans up a sandbox that has ended already, or was killed.
func Delete(ctx context.Context, root, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(filepath.Join(dir, lockFile)); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	lock, err := end(ctx, dir)
	if err != nil {
		return fmt.Errorf("cannot end sandbox %s: %w", name, err)
	}
	defer lock.Close()
	if err := cleanUpLocked(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// end ends the supervisor, and returns the lock of the folder, which proves that the supervisor has ended.
//
//  1. where the lock is free, nothing runs
//  2. the supervisor gets SIGTERM, and ends everything in order
//  3. if it does not end, it is killed, and the kernel ends the processes that it started
func end(ctx context.Context, dir string) (*os.File, error) {
	lock, err := awaitLock(ctx, dir, lockPatience)
	if lock != nil || err != nil {
		return lock, err
	}
	for _, step := range []struct {
		signal   syscall.Signal
		patience time.Duration
	}{{syscall.SIGTERM, endPatience}, {syscall.SIGKILL, killPatience}} {
		if pid, ok := running(dir); ok {
			if err := syscall.Kill(pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return nil, fmt.Errorf("cannot end its supervisor, process %d: %w", pid, err)
			}
		}
		if lock, err = awaitLock(ctx, dir, step.patience); lock != nil || err != nil {
			return lock, err
		}
	}
	return nil, errors.New("another program holds its lock: is it being made or deleted?")
}

// awaitLock waits until the lock is free; nil when it stays held.
func awaitLock(ctx context.Context, dir string, patience time.Duration) (lock *os.File, err error) {
	err = wait.PollUntilContextTimeout(ctx, lockPause, patience, true, func(context.Context) (bool, error) {
		found, held, err := tryLock(dir)
		if errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("%w: another program deleted it", ErrNotFound)
		}
		if held {
			lock = found
		}
		return held, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil, nil
	}
	return lock, err
}

// running returns the supervisor of a folder. An id alone proves nothing, as the system reuses ids: the command line must name the
// folder.
func running(dir string) (int, bool) {
	data, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid, err == nil && pid > 1 && names(pid, dir)
}

// names reports whether the command line of a process names a folder.
func names(pid int, dir string) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		if _, e := os.Stat("/proc/self"); e == nil {
			return false
		}
		data, _ = exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output() // systems without /proc; empty where it is gone
	}
	for _, word := range strings.FieldsFunc(string(data), func(r rune) bool { return r == 0 || r == ' ' || r == '\n' }) {
		if word == dir || strings.Contains(word, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// cleanUpLocked ends processes that a killed supervisor may have left where the kernel does not end children with their parent, and removes
// the data of control planes outside the folder. Call it with the lock.
func cleanUpLocked(dir string) error {
	if s, err := read(dir); err == nil && s.Manager != nil && names(s.Manager.Process, dir) {
		_ = syscall.Kill(s.Manager.Process, syscall.SIGKILL) // an error means that it is gone
	}
	return localcluster.Sweep(dir)
}
