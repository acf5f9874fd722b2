package localcluster

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	const never = time.Hour
	take := func(t *testing.T, dir string, patience time.Duration) func() {
		t.Helper()
		end, err := acquireStartSlot(t.Context(), dir, 2, patience)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}

	t.Run("as many as there are turns start at once, and the next waits for one of them to end", func(t *testing.T) {
		dir := t.TempDir()
		end, other := take(t, dir, never), take(t, dir, never)
		defer other()
		third := make(chan func())
		go func() { third <- take(t, dir, never) }()
		select {
		case <-third:
			t.Fatal("the third did not wait")
		case <-time.After(4 * pollInterval):
		}
		end()
		(<-third)()
	})
	t.Run("one that waits in vain continues without a turn", func(t *testing.T) {
		dir := t.TempDir()
		defer take(t, dir, never)()
		defer take(t, dir, never)()
		take(t, dir, pollInterval)()
	})
	t.Run("one whose context ends gets none", func(t *testing.T) {
		dir := t.TempDir()
		defer take(t, dir, never)()
		defer take(t, dir, never)()
		ctx, cancel := context.WithTimeout(t.Context(), pollInterval)
		defer cancel()
		if _, err := acquireStartSlot(ctx, dir, 2, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that cannot create locks continues without a turn", func(t *testing.T) {
		take(t, "/dev/null/starts", never)()
	})
}
