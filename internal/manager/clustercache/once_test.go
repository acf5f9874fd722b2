package clustercache

import (
	"errors"
	"sync"
	"testing"
)

func TestOnce_RepeatsUntilSuccess(t *testing.T) {
	r, done := &Runtime{conn: &connection{ctx: t.Context()}}, 0
	failed := errors.New("the API server did not answer")
	for i, answer := range []error{failed, failed, nil, nil} {
		if err := r.Once(t.Context(), "namespace", func() error { done++; return answer }); !errors.Is(err, answer) {
			t.Errorf("attempt %d: error %v, want %v", i, err, answer)
		}
	}
	if done != 3 {
		t.Errorf("done %d times, want until it succeeded", done)
	}
	_ = r.Once(t.Context(), "other", func() error { done++; return nil })
	r.ResetOnce("namespace")
	_ = r.Once(t.Context(), "namespace", func() error { done++; return nil })
	if done != 5 {
		t.Errorf("done %d times: another key, and one that is asked for again, count by themselves", done)
	}
}

func TestOnce_ConcurrentCallersWait(t *testing.T) {
	r, done := &Runtime{conn: &connection{ctx: t.Context()}}, 0
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { _ = r.Once(t.Context(), "namespace", func() error { done++; return nil }) })
	}
	group.Wait()
	if done != 1 {
		t.Errorf("done %d times", done)
	}
}
