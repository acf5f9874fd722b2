package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWithin_AConsoleWithinAContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe() // nothing reads the output, and there is no input
	var out bytes.Buffer
	bound := (&Console{In: reader, Out: &out, Err: writer, Color: true}).Within(ctx)
	if !bound.Color {
		t.Error("what else a console is was lost")
	}
	if _, err := io.WriteString(bound.Out, "before"); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := io.WriteString(bound.Out, " and after"); err != nil || out.String() != "before and after" {
		t.Errorf("wrote %q: %v", out.String(), err)
	}
	if _, err := bound.In.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a read without input: %v", err)
	}
	_ = reader.Close()
	reader, writer = io.Pipe()
	defer reader.Close()
	bound = (&Console{In: strings.NewReader("text"), Out: writer, Err: writer}).Within(ctx)
	if _, err := bound.Out.Write([]byte("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("a write into a pipe that is full: %v", err)
	}
	if got, err := io.ReadAll(bound.In); err != nil || string(got) != "text" {
		t.Errorf("read %q: %v", got, err)
	}
}
