//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// lockPatience is how long to try to take a lock that may be held only for a moment.
	lockPatience = 400 * time.Millisecond
	lockPause    = 20 * time.Millisecond
)

// tryLock takes the lock of a folder if it is free. The lock is released with the last process that has the file open, and the supervisor
// inherits the file.
func tryLock(dir string) (lock *os.File, held bool, err error) {
	return tryOpened(filepath.Join(dir, lockFile), os.O_RDWR)
}

func tryOpened(path string, flags int) (lock *os.File, held bool, err error) {
	lock, err = os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, lock.Close()
	}
	if err != nil {
		return nil, false, errors.Join(err, lock.Close())
	}
	return lock, true, nil
}

// claim creates the folder of a new sandbox, or takes over that of one that has ended, and returns its lock. A program that lists sandboxes
// holds a lock for a moment, so claim tries for a moment.
func claim(ctx context.Context, dir string) (lock *os.File, err error) {
	err = wait.PollUntilContextTimeout(ctx, lockPause, lockPatience, true, func(context.Context) (bool, error) {
		var e error
		lock, e = claimOnce(dir)
		return lock != nil, e
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil, ErrTaken
	}
	return lock, err
}

// claimOnce returns nil when the lock is held by another process, or the folder is being deleted.
func claimOnce(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the sandbox: %w", err)
	}
	lock, held, err := tryOpened(path, os.O_CREATE|os.O_RDWR)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil || !held:
		return nil, err
	case !same(lock, path):
		return nil, lock.Close()
	}
	return lock, nil
}

// same reports whether a path still refers to the open file.
func same(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(opened, now)
}

// empty deletes the files of an earlier sandbox, except for the lock.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == lockFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("cannot delete what an earlier sandbox left: %w", err)
		}
	}
	return nil
}
