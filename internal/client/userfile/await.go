package userfile

import (
	"context"
	"time"
)

// grace is how long something under way must end by itself once the context ended. What is not blocked takes far less, and a program has
// to end within a second, a last word included.
const grace = 300 * time.Millisecond

// Await does what can block in the kernel for good, such as opening a pipe without a reader, and gives up after the context ended: the
// goroutine that is left waits in a process that ends.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
	}
	select {
	case got := <-done:
		return got.value, got.err
	case <-time.After(grace):
		var none T
		return none, ctx.Err()
	}
}
