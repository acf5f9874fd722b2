//go:build unix

package localcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// AcquireStartSlot waits until fewer control planes are being started on this machine than it has processors, counting all programs of this
// user, and returns a function that releases the slot. A start keeps a processor busy for seconds, so that more of them at a time delay all
// of them, some so much that they time out and start over.
//
// A slot is a courtesy, not a requirement: a program that waits for longer than a start may take continues without one. The only error is
// that of the context.
func AcquireStartSlot(ctx context.Context) (end func(), err error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("lifecycle-manager-starts-%d", os.Getuid()))
	return acquireStartSlot(ctx, dir, runtime.NumCPU(), startTimeout)
}

// acquireStartSlot uses a lock for each of the turns in dir.
func acquireStartSlot(ctx context.Context, dir string, turns int, patience time.Duration) (end func(), err error) {
	end = func() {}
	if os.MkdirAll(dir, 0o700) != nil {
		return end, ctx.Err()
	}
	// An error means that patience or the context ended, or that locks are not possible.
	_ = wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(context.Context) (bool, error) {
		for turn := range turns {
			lock, held, err := tryLock(filepath.Join(dir, fmt.Sprint(turn)), os.O_CREATE|os.O_RDWR)
			if err != nil {
				return false, err // no turns without locks
			}
			if held {
				end = func() { _ = lock.Close() } // releases the lock
				return true, nil
			}
		}
		return false, nil
	})
	if ctx.Err() != nil {
		end()
		return nil, ctx.Err()
	}
	return end, nil
}
