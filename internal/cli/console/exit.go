package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The exit codes of kyma. `kyma diff` has those of diff(1) instead: 0 for no difference, 1 for some, 2 for a failure.
const (
	CodeOK          = 0
	CodeError       = 1
	CodeWarning     = 2 // the object of the command is in state Warning
	CodeTimeout     = 3 // the wait ended without the result
	CodeNotFound    = 4
	CodeUsage       = 64
	CodeInterrupted = 130
)

// Failure is an error with an exit code.
type Failure struct {
	// Code is one of the exit codes above.
	Code int
	// Err names what is wrong, where and why; nil prints nothing, for commands that have printed everything already.
	Err error
	// Hint describes what to do, in a sentence of its own; may be empty.
	Hint string
}

// Error returns the text without the hint.
func (f *Failure) Error() string {
	if f.Err == nil {
		return fmt.Sprintf("exit code %d", f.Code)
	}
	return f.Err.Error()
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Usage returns the error for a command line that makes no sense.
func Usage(format string, args ...any) *Failure {
	return &Failure{Code: CodeUsage, Err: fmt.Errorf(format, args...)}
}

// NotFound returns the error for something that was named and does not exist.
func NotFound(format string, args ...any) *Failure {
	return &Failure{Code: CodeNotFound, Err: fmt.Errorf(format, args...)}
}

// TimedOut returns the error for a wait that ended without the result.
func TimedOut(format string, args ...any) *Failure {
	return &Failure{Code: CodeTimeout, Err: fmt.Errorf(format, args...)}
}

// Quiet ends a command with a code and without a message.
func Quiet(code int) error {
	if code == CodeOK {
		return nil
	}
	return &Failure{Code: code}
}

// With adds a hint.
func (f *Failure) With(format string, args ...any) *Failure {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// AboveOne reserves the exit code 1 of a command for a difference, as diff(1) does.
func AboveOne(err error) error {
	if Code(err) != CodeError {
		return err
	}
	failure := &Failure{Code: 2, Err: err}
	if inner, ok := errors.AsType[*Failure](err); ok {
		failure.Hint = inner.Hint
	}
	return failure
}

// shownNames is how many names a hint lists.
const shownNames = 20

// Known adds a hint at what could have been meant: similar are the names that resemble the given one, all are those that exist; noun is
// what they name, such as "modules".
func (f *Failure) Known(noun string, similar, all []string) *Failure {
	names := slices.Compact(slices.Sorted(slices.Values(all)))
	if len(names) == 0 {
		return f
	}
	text := strings.Join(names[:min(len(names), shownNames)], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(similar) > 0 {
		return f.With("did you mean %s? Known %s: %s", strings.Join(similar, " or "), noun, text)
	}
	return f.With("known %s: %s", noun, text)
}

// Code returns the exit code of an error:
//
//  1. 4 for a file that does not exist, whatever the file was for
//  2. that of the first Failure that it wraps
//  3. 130 for a cancelled context, which is Ctrl-C
//  4. 3 for a deadline
//  5. 4 for an object that the API server does not find
//  6. 1 otherwise
func Code(err error) int {
	var failure *Failure
	switch wrapped := errors.As(err, &failure); {
	case err == nil:
		return CodeOK
	case errors.Is(err, fs.ErrNotExist) && (!wrapped || failure.Code == CodeError || failure.Code == CodeUsage):
		return CodeNotFound
	case wrapped:
		return failure.Code
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case apierrors.IsNotFound(err):
		return CodeNotFound
	}
	return CodeError
}

// Fail prints what went wrong and returns the exit code.
func (c *Console) Fail(err error) int {
	code := Code(err)
	var failure *Failure
	quiet := errors.As(err, &failure) && failure.Err == nil
	switch {
	case err == nil || quiet:
	case code == CodeInterrupted:
		if c.Live || c.Asks {
			c.Sayf("") // the terminal wrote ^C after the current text
		}
		c.Sayf("Interrupted.")
	default:
		c.Sayf("Error: %s", strings.TrimSpace(err.Error()))
	}
	if failure != nil && failure.Hint != "" {
		c.Sayf("Hint: %s", failure.Hint)
	}
	return code
}
