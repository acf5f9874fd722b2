package userfile

import (
	"context"
	"time"
)

// grace is how long an operation may take to finish by itself after the context ended. An operation that is not blocked takes far less, and
// the program must exit within a second, including its last message.
const grace = 300 * time.Millisecond

// Await runs an operation that can block in the kernel forever, such as opening a pipe without a reader, and gives up after the context
// ended. The goroutine remains blocked until the process exits.
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
