//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// memory is the in-memory file system on Linux.
	memory = "/dev/shm"
	// memoryNeeded must be free there for one control plane: etcd alone reserves 64 MiB for each of its first two
	// log segments, and a container often has only 64 MiB in all.
	memoryNeeded = 1 << 30
	lockFile     = "lock"
	pidSuffix    = ".pid"
	// unfinished marks a folder whose lock is not yet held; a sweep removes it when it stays so.
	unfinished    = "."
	unfinishedAge = time.Minute
)

// scratch is the folder with the data of one control plane. The process that created it holds a lock on it; a folder whose lock is free has
// lost its owner.
type scratch struct {
	dir  string
	lock *os.File
}

// scratchParent returns the parent of scratch folders: in memory when there is room, else dir, else the folder for temporary files.
func scratchParent(dir string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(memory, &stat); err == nil && stat.Bavail*uint64(stat.Bsize) >= memoryNeeded {
		if probe, err := os.MkdirTemp(memory, unfinished+scratchPrefix()); err == nil && os.Remove(probe) == nil {
			return memory
		}
	}
	if dir != "" {
		return dir
	}
	return os.TempDir()
}

// scratchPrefix separates the folders of different users of a machine.
func scratchPrefix() string { return fmt.Sprintf("lifecycle-manager-%d-", os.Getuid()) }

// newScratch sweeps folders without an owner and creates a folder. The folder gets its final name after its lock is held, so that a sweep
// by another process never takes it for one without an owner.
func newScratch(parent, name string) (*scratch, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	if err := sweep(parent); err != nil {
		return nil, err
	}
	hidden, err := os.MkdirTemp(parent, unfinished+scratchPrefix()+filepath.Base(name)+"-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a scratch folder: %w", err)
	}
	lock, held, err := tryLock(filepath.Join(hidden, lockFile), os.O_CREATE|os.O_RDWR)
	if err == nil && !held {
		err = errors.New("another process holds the lock of a directory that was just created")
	}
	dir := filepath.Join(parent, strings.TrimPrefix(filepath.Base(hidden), unfinished))
	if err == nil {
		err = os.Rename(hidden, dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make scratch folder %s: %w", hidden, err), os.RemoveAll(hidden))
	}
	return &scratch{dir: dir, lock: lock}, nil
}

// Sweep removes the processes and data of programs that died without Stop, wherever a control plane with this Options.Dir may have kept
// them.
func Sweep(dir string) error {
	var err error
	for _, parent := range []string{memory, dir, os.TempDir()} {
		if parent != "" {
			err = errors.Join(err, sweep(parent))
		}
	}
	return err
}

// sweep removes the processes and data of owners that died without Stop.
func sweep(parent string) error {
	finished, err := filepath.Glob(filepath.Join(parent, scratchPrefix()+"*"))
	if err != nil {
		return err
	}
	for _, dir := range finished {
		lock, held, err := tryLock(filepath.Join(dir, lockFile), os.O_RDWR)
		if err != nil || !held {
			continue // already deleted, or in use
		}
		s := &scratch{dir: dir, lock: lock}
		s.kill()
		if err := errors.Join(s.awaitEnd(stopTimeout), s.remove()); err != nil {
			return fmt.Errorf("cannot clean up %s, which an earlier run left behind: %w", dir, err)
		}
	}
	half, err := filepath.Glob(filepath.Join(parent, unfinished+scratchPrefix()+"*"))
	if err != nil {
		return err
	}
	for _, dir := range half {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > unfinishedAge {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// folder creates a folder in it.
func (s *scratch) folder(name string) (string, error) {
	dir := filepath.Join(s.dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// file writes a file in it that only we may read.
func (s *scratch) file(name string, data []byte) (string, error) {
	path := filepath.Join(s.dir, name)
	return path, os.WriteFile(path, data, 0o600)
}

func (s *scratch) pidFile(program string) string { return filepath.Join(s.dir, program+pidSuffix) }

// processes returns the ids of the processes that were started out of this folder and still run. An id alone proves nothing, as the system
// reuses ids: the command line must name the folder.
func (s *scratch) processes() []int {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*"+pidSuffix)) // the pattern is valid
	var running []int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err == nil && pid > 1 && strings.Contains(commandLine(pid), s.dir) {
			running = append(running, pid)
		}
	}
	return running
}

// kill ends the processes, each with its group. They get no chance to end by themselves: there is nothing to save.
func (s *scratch) kill() {
	for _, pid := range s.processes() {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // an error means that it is gone
	}
}

func (s *scratch) awaitEnd(timeout time.Duration) error {
	var running []int
	err := wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		running = s.processes()
		return len(running) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("processes %v still run %s after SIGKILL", running, timeout)
	}
	return nil
}

// remove deletes the folder and releases its lock.
func (s *scratch) remove() error {
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}

// tryLock takes the lock if it is free. The lock belongs to the open file, so it ends with the process at the latest.
func tryLock(path string, flags int) (lock *os.File, held bool, err error) {
	lock, err = os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, false, lock.Close()
	}
	return lock, true, nil
}
