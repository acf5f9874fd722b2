package userfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// IsStream reports whether a path leads to a target that accepts bytes and has no content that could be replaced: a device, a pipe, a
// socket, or a file that this process has already opened, such as /dev/stdout.
func IsStream(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir() && (!info.Mode().IsRegular() || isOpen(file))
}

// maxLinks is how many symbolic links a path may have; Linux has the same limit.
const maxLinks = 40

// isOpen reports whether a path, or a link that it follows, is a file descriptor. The file behind it may be a regular one to which other
// processes write too: it must remain the same file.
func isOpen(file string) bool {
	for range maxLinks {
		path := filepath.Clean(file)
		if path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
			return true
		}
		to, err := os.Readlink(path)
		if err != nil {
			return false
		}
		if file = to; !filepath.IsAbs(to) {
			file = filepath.Join(filepath.Dir(path), to)
		}
	}
	return false
}

// IsStandardOutput reports whether a path is a name of standard output. If that is a socket, the kernel does not open it again.
func IsStandardOutput(file string) bool {
	switch filepath.Clean(file) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// Write writes a text to the file that a user named, and reports whether it wrote something. It writes to a stream directly, and replaces a
// regular file as Replace does.
func Write(ctx context.Context, file string, text []byte) (changed bool, err error) {
	if !IsStream(file) {
		return Replace(file, text)
	}
	_, err = Await(ctx, func() (struct{}, error) { return struct{}{}, feed(file, text) })
	if err != nil && ctx.Err() != nil {
		return false, fmt.Errorf("write %s: %w", file, err)
	}
	return err == nil, err
}

// feed writes to a stream. It appends, so that an open file keeps what other processes wrote.
func feed(file string, text []byte) error {
	opened, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = opened.Write(text)
	if closing := opened.Close(); err == nil {
		err = closing
	}
	return err
}

// Replace writes a whole file or nothing: readers and other processes never see half of it. It leaves a file with the same content alone,
// and refuses anything but a regular file.
func Replace(file string, text []byte) (changed bool, err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		if err := replaceable(info); err != nil {
			return false, fmt.Errorf("write %s: %w", file, err)
		}
		mode = info.Mode().Perm()
	}
	// A file that cannot be read may still be replaced, and one that cannot be examined fails below.
	if _, same, err := Compare(file, text); err == nil && same {
		return false, nil
	}
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved // keep the link, and replace its target
	}
	return true, swap(file, text, mode)
}

// Editable returns why a file cannot be read and then written back; nil if it can be, or does not exist yet.
func Editable(file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = replaceable(info)
	}
	if err == nil && isOpen(file) {
		err = errIrregular
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", file, err)
	}
	return nil
}

var errIrregular = errors.New("it is no regular file, and so has no content that could be replaced")

func replaceable(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return errIrregular
	}
	return nil
}

// swap writes a draft next to the file, and renames it to the file's name when it is complete.
func swap(file string, text []byte, mode os.FileMode) (err error) {
	draft, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if failure := (*fs.PathError)(nil); errors.As(err, &failure) {
		err = failure.Err // the name of the draft means nothing to the user
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(draft.Name()))
		}
	}()
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Chmod(mode), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), file)
}
