package console

import (
	"context"
	"io"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// Within returns the console with streams that do not outlast a context: a read without input, or a write to a full pipe, ends soon after
// it, so that the first signal ends a program.
func (c *Console) Within(ctx context.Context) *Console {
	bound := *c
	bound.In, bound.Out, bound.Err = reading(ctx, c.In), writing(ctx, c.Out), writing(ctx, c.Err)
	return &bound
}

type (
	readFunc  func(p []byte) (int, error)
	writeFunc func(p []byte) (int, error)
)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Write implements io.Writer.
func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// The bytes are copied both ways: a remaining goroutine must not touch memory that its caller uses again.
func reading(ctx context.Context, from io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		buffer := make([]byte, len(p))
		n, err := userfile.Await(ctx, func() (int, error) { return from.Read(buffer) })
		return copy(p, buffer[:n]), err
	})
}

func writing(ctx context.Context, to io.Writer) io.Writer {
	return writeFunc(func(p []byte) (int, error) {
		text := append([]byte(nil), p...)
		return userfile.Await(ctx, func() (int, error) { return to.Write(text) })
	})
}
