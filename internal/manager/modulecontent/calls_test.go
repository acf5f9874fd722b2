package modulecontent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

var errDown = errors.New("the registry is down")

// clock is a clock that the test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// anywhere returns the place of every call.
func anywhere(string) string { return "" }

// newTestCalls returns calls with a long patience and a clock that the test sets.
func newTestCalls() (*calls[string, string], *clock) {
	time0 := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c := newCalls[string, string](newGate(callsAtOnce, callsAtOnce), anywhere)
	c.patience, c.now = time.Minute, time0.read
	return c, time0
}

func TestCalls_AFailureStandsForAGrowingWhile(t *testing.T) {
	c, time0 := newTestCalls()
	asked := 0
	fail := func(context.Context) (string, error) { asked++; return "", errDown }
	for i, seconds := range []int{2, 4, 8, 16, 32, 45, 45} {
		want := time.Duration(seconds) * time.Second
		if _, retry, err := c.do(t.Context(), "key", fail); !errors.Is(err, errDown) || retry != want {
			t.Fatalf("failure %d: retry %s, error %v, want %s", i, retry, err, want)
		}
		time0.move(want - time.Millisecond)
		if _, retry, err := c.do(t.Context(), "key", fail); !errors.Is(err, errDown) || retry != time.Millisecond || asked != i+1 {
			t.Fatalf("failure %d is repeated before its time: %d calls, retry %s, error %v", i, asked, retry, err)
		}
		time0.move(time.Millisecond)
	}
	if answer, retry, err := c.do(t.Context(), "other", func(context.Context) (string, error) { return "yes", nil }); answer != "yes" || retry != 0 || err != nil {
		t.Errorf("another key suffers from it: %q, retry %s, error %v", answer, retry, err)
	}
	if _, retry, err := c.do(t.Context(), "key", func(context.Context) (string, error) { return "yes", nil }); retry != 0 || err != nil {
		t.Errorf("it does not heal: retry %s, error %v", retry, err)
	}
	if _, retry, _ := c.do(t.Context(), "key", fail); retry != shortestPause {
		t.Errorf("the first failure after a success stands for %s, want %s", retry, shortestPause)
	}
	time0.move(time.Hour)
	if _, retry, _ := c.do(t.Context(), "key", fail); retry != shortestPause {
		t.Errorf("a failure long after the last one stands for %s, want %s", retry, shortestPause)
	}
}

func TestCalls_AFailureStandsAsLongAsTheRegistryAsks(t *testing.T) {
	c, _ := newTestCalls()
	asked := &content.Error{Reason: content.ReasonRegistryUnreachable, Err: errDown, RetryAfter: 5 * time.Minute}
	if _, retry, err := c.do(t.Context(), "key", func(context.Context) (string, error) { return "", asked }); retry != asked.RetryAfter || err == nil {
		t.Errorf("retry %s, error %v, want %s", retry, err, asked.RetryAfter)
	}
}

func TestCalls_AllWhoAskShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls[string, string](newGate(callsAtOnce, callsAtOnce), anywhere)
		asked := 0
		release := make(chan struct{})
		answers := make([]string, 16)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() {
				answers[i], _, _ = c.do(t.Context(), "key", func(context.Context) (string, error) {
					asked++
					<-release
					return "yes", nil
				})
			})
		}
		synctest.Wait() // until all of them wait
		close(release)
		group.Wait()
		if asked != 1 || strings.Join(answers, "") != strings.Repeat("yes", len(answers)) {
			t.Errorf("%d calls, answers %q", asked, answers)
		}
	})
}

func TestCalls_ASlowCallHoldsNobodyAndGoesOn(t *testing.T) {
	c, time0 := newTestCalls()
	c.patience = time.Millisecond
	release, done := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	slow := func(ctx context.Context) (string, error) {
		defer close(done)
		<-release
		return "yes", ctx.Err()
	}
	if answer, retry, err := c.do(ctx, "key", slow); answer != "" || retry != pendingPause || err != nil {
		t.Fatalf("answer %q, retry %s, error %v, want none yet", answer, retry, err)
	}
	cancel()
	c.patience = time.Hour
	time0.move(2 * time.Hour) // past the patience of later callers, too
	begun := time.Now()
	if _, retry, err := c.do(t.Context(), "key", slow); retry != pendingPause || err != nil || time.Since(begun) > time.Minute {
		t.Fatalf("retry %s, error %v after %s, want none yet, at once", retry, err, time.Since(begun))
	}
	c.mu.Lock()
	running := c.running["key"]
	c.mu.Unlock()
	close(release)
	<-done
	<-running.done
	if running.err != nil || running.answer != "yes" {
		t.Errorf("the call ended with its first caller: answer %q, error %v", running.answer, running.err)
	}
}

func TestCalls_WhileAFailedCallIsRepeatedItsFailureIsTold(t *testing.T) {
	c, time0 := newTestCalls()
	if _, _, err := c.do(t.Context(), "key", func(context.Context) (string, error) { return "", errDown }); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	time0.move(time.Minute)
	c.patience = time.Millisecond
	release := make(chan struct{})
	defer close(release)
	_, retry, err := c.do(t.Context(), "key", func(context.Context) (string, error) { <-release; return "yes", nil })
	if !errors.Is(err, errDown) || retry != pendingPause {
		t.Errorf("retry %s, error %v, want the failure before", retry, err)
	}
}

func TestCalls_APanicIsAFailureOfThatCallOnly(t *testing.T) {
	c, _ := newTestCalls()
	_, retry, err := c.do(t.Context(), "key", func(context.Context) (string, error) { panic("hostile content") })
	if err == nil || !strings.Contains(err.Error(), "hostile content") || retry <= 0 {
		t.Errorf("retry %s, error %v", retry, err)
	}
}
