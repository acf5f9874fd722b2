package clustercache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// crowd queues one waiter of each name, in their order, and records the order in which they are admitted.
func crowd(t *testing.T, e *prioritySemaphore, order *[]string, guests ...string) map[string]*connection {
	t.Helper()
	made := map[string]*connection{}
	for _, name := range guests {
		c := &connection{}
		made[name] = c
		go func() {
			leave, err := e.enter(t.Context(), c)
			if err != nil {
				return
			}
			*order = append(*order, name) // one at a time, by the room of the entrance
			leave()
		}()
		synctest.Wait()
	}
	return made
}

func TestPrioritySemaphore_AdmitsUrgentWaitersFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newPrioritySemaphore(1)
		leave, err := e.enter(t.Context(), &connection{})
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		waiting := crowd(t, e, &order, "a", "b", "c", "d")
		e.prioritize(waiting["c"])
		e.prioritize(waiting["b"])
		leave()
		synctest.Wait()
		if got := join(order); got != "cbad" {
			t.Errorf("they came in as %s", got)
		}
		if e.free != 1 || e.hurried != 0 || len(e.waiting) != 0 {
			t.Errorf("afterwards %d places are free, %d wait, %d of them in a hurry", e.free, len(e.waiting), e.hurried)
		}
	})
}

func join(names []string) (all string) {
	for _, name := range names {
		all += name
	}
	return all
}

func TestPrioritySemaphore_ReleasesAdmissionOfSlowRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newPrioritySemaphore(1)
		slow, err := e.enter(t.Context(), &connection{})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		leave, err := e.enter(t.Context(), &connection{})
		if err != nil || time.Since(begun) != maxAdmission {
			t.Fatalf("came in after %s: %v", time.Since(begun), err)
		}
		slow() // its turn was over
		leave()
		if e.free != 1 {
			t.Errorf("%d places are free", e.free)
		}
	})
}

func TestPrioritySemaphore_CancelledWaiterLeaksNoAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newPrioritySemaphore(1)
		leave, err := e.enter(t.Context(), &connection{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		hurried := &connection{}
		e.prioritize(hurried)
		go func() {
			_, err := e.enter(ctx, hurried)
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended by %v", err)
		}
		leave()
		if e.free != 1 || e.hurried != 0 || len(e.waiting) != 0 {
			t.Errorf("afterwards %d places are free, %d wait, %d of them in a hurry", e.free, len(e.waiting), e.hurried)
		}
	})
}
