package userfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// most is how many bytes Read accepts: as many as a resource of a component may have, and little enough for a device without an end. Tests
// set a lower limit.
var most int64 = 256 << 20

// Read returns the content of a file or of a pipe, such as the <(...) of a shell.
func Read(ctx context.Context, file string) ([]byte, error) {
	limit := most // copied here, since the goroutine may outlive the call
	text, err := Await(ctx, func() ([]byte, error) { return upTo(file, limit+1) })
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("read %s: %w", file, err)
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("%s has more than %d MiB", file, limit>>20)
	}
	return text, nil
}

// Compare reports whether the file exists, and whether it is a regular file with exactly this text. It reads only a regular file of the
// same size.
func Compare(file string, text []byte) (there, same bool, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(text)) || IsStream(file) {
		return true, false, nil
	}
	held, err := upTo(file, int64(len(text))+1)
	return true, bytes.Equal(held, text), err
}

// upTo reads the beginning of a file, up to a limit.
func upTo(file string, limit int64) ([]byte, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(opened, limit))
	if closing := opened.Close(); err == nil {
		err = closing
	}
	return text, err
}
