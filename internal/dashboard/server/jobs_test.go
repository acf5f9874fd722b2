package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// board returns jobs, and a channel that gets a value whenever live queries would look again.
func board(t *testing.T) (made *jobs, woken chan struct{}) {
	t.Helper()
	woken = make(chan struct{}, 1000)
	ctx, end := context.WithCancel(context.Background())
	made = newJobs(ctx, func() { woken <- struct{}{} }, newTurns(mostReadings, mostReadingsOfOne, "versions are read"))
	t.Cleanup(func() { end(); made.wait() })
	return made, woken
}

// ended looks until a job has a result.
func ended[T any](t *testing.T, woken chan struct{}, look func() outcome[T]) outcome[T] {
	t.Helper()
	late := time.After(time.Minute)
	for {
		if is := look(); is.done {
			return is
		}
		select {
		case <-woken:
		case <-late:
			t.Fatal("no result came")
		}
	}
}

func TestJobs_ARequestNeverWaits(t *testing.T) {
	made, woken := board(t)
	release := make(chan struct{})
	var runs atomic.Int32
	ask := func() outcome[string] {
		return look(made, "a", "ann", time.Hour, func(ctx context.Context, say func(string)) (string, error) {
			runs.Add(1)
			say("reading")
			select {
			case <-release:
			case <-ctx.Done():
			}
			return "read", nil
		})
	}
	if is := ask(); is.done || is.err != nil {
		t.Fatalf("at once: %+v", is)
	}
	<-woken
	if is := ask(); is.done || is.step != "reading" {
		t.Errorf("on the way: %+v", is)
	}
	close(release)
	if is := ended(t, woken, ask); is.value != "read" || is.step != "" || runs.Load() != 1 {
		t.Errorf("after %d runs: %+v", runs.Load(), is)
	}
}

func TestJobs_AResultStaysWhileItIsReadAgain(t *testing.T) {
	made, woken := board(t)
	var runs atomic.Int32
	again := make(chan struct{})
	ask := func() outcome[int32] {
		return look(made, "a", "ann", 0, func(context.Context, func(string)) (int32, error) {
			n := runs.Add(1)
			if n == 2 {
				<-again
			}
			return n, nil
		})
	}
	if is := ended(t, woken, ask); is.value != 1 {
		t.Fatalf("%+v", is)
	}
	if is := ask(); !is.done || is.value != 1 {
		t.Errorf("a result vanishes while it is read again: %+v", is)
	}
	close(again)
}

func TestJobs_AFailureIsToldAndLasts(t *testing.T) {
	made, woken := board(t)
	var runs atomic.Int32
	ask := func() outcome[string] {
		return look(made, "a", "ann", time.Hour, func(context.Context, func(string)) (string, error) {
			runs.Add(1)
			return "", errors.New("no answer")
		})
	}
	if is := ended(t, woken, ask); is.err == nil || ask().err == nil || runs.Load() != 1 {
		t.Errorf("after %d runs: %+v", runs.Load(), is)
	}
}

func TestJobs_AreBounded(t *testing.T) {
	made, woken := board(t)
	quick := func(context.Context, func(string)) (string, error) { return "x", nil }
	for i := range 3 * mostJobs {
		ended(t, woken, func() outcome[string] { return look(made, fmt.Sprint(i), "ann", time.Hour, quick) })
	}
	if n := len(made.kept); n > mostJobs {
		t.Errorf("%d results are kept", n)
	}
	never := func(ctx context.Context, _ func(string)) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	for i := range mostJobs {
		look(made, fmt.Sprint("slow", i), fmt.Sprint(i), time.Hour, never)
	}
	if is := look(made, "one more", "ann", time.Hour, quick); !is.done || is.err == nil {
		t.Errorf("what is too much is not refused: %+v", is)
	}
}
