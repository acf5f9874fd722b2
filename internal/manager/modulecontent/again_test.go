package modulecontent

import (
	"context"
	"errors"
	"testing"
)

func TestAgain_WhatFailedIsTriedAgainAtOnceWhenSomebodyMendedIt(t *testing.T) {
	asked := newCalls[string, int](newGate(callsAtOnce, callsAtOnce), anywhere)
	failed := errors.New("refused")
	fetch := func(err error) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return 1, err }
	}
	if _, _, err := asked.do(t.Context(), "a", fetch(failed)); !errors.Is(err, failed) {
		t.Fatalf("error %v", err)
	}
	if _, retry, err := asked.do(t.Context(), "a", fetch(nil)); !errors.Is(err, failed) || retry <= 0 {
		t.Fatalf("retry %s, error %v: the failure is not remembered", retry, err)
	}
	asked.forgive()
	if got, retry, err := asked.do(t.Context(), "a", fetch(nil)); got != 1 || retry != 0 || err != nil {
		t.Errorf("got %d, retry %s, error %v", got, retry, err)
	}
}
