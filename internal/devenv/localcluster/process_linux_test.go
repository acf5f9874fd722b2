package localcluster

import (
	"errors"
	"sync"
	"syscall"
	"testing"
)

func TestKeeperRunsEverythingOnOneThread(t *testing.T) {
	k := newLockedThread()
	defer k.close()
	threads := map[int]bool{} // written by one goroutine only: the keeper's
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if err := k.do(func() error { threads[syscall.Gettid()] = true; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	failed := errors.New("failed")
	if err := k.do(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the error is lost: %v", err)
	}
	if len(threads) != 1 {
		t.Errorf("%d threads were used", len(threads))
	}
}
