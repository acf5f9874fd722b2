//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package component

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPause is how long somebody waits before asking again whether a lock is free.
const lockPause = 10 * time.Millisecond

// lock keeps others who use it, in this process and in others, out of a directory. It lies on the directory itself, so that no file is left
// behind, and ends with the process.
func lock(ctx context.Context, dir string) (unlock func() error, err error) {
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
