//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package ctf

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPause is the pause between attempts to take a lock.
const lockPause = 10 * time.Millisecond

// Lock gives the caller exclusive use of a directory, among all callers in this and other processes. The lock is on the directory itself,
// so that no file is left behind, and ends with the process.
func Lock(ctx context.Context, dir string) (unlock func() error, err error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for {
		err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return held.Close, nil // which unlocks
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, held.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), held.Close())
		case <-pause.C:
		}
	}
}
