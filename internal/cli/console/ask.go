package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errNo is the error for the answer no.
var errNo = &Failure{Code: CodeError, Err: errors.New("cancelled: nothing was changed")}

// Confirm asks a yes-or-no question and returns nil for yes. Without a terminal it returns a usage error that names --yes and deed, which
// is what was to be done, such as "deleting notes".
func (c *Console) Confirm(ctx context.Context, deed, question string) error {
	if c.Yes {
		return nil
	}
	if !c.Asks {
		return unasked(deed, "--yes")
	}
	answer, err := c.read(ctx, question+" [y/N] ")
	if err != nil {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errNo
	}
	return nil
}

// ConfirmTyped requires a word to be typed, for actions that should not happen by habit. deed is that of Confirm; flags have the same
// effect without a terminal, such as "--unmanaged --yes"; given reports whether they were given.
func (c *Console) ConfirmTyped(ctx context.Context, deed, question, word, flags string, given bool) error {
	if given {
		return nil
	}
	if !c.Asks {
		return unasked(deed, flags)
	}
	answer, err := c.read(ctx, fmt.Sprintf("%s\nType %q to continue: ", question, word))
	if err != nil {
		return err
	}
	if strings.TrimSpace(answer) != word {
		return errNo
	}
	return nil
}

// unasked returns the error for a question that cannot be asked.
func unasked(deed, flags string) error {
	return Usage("%s needs confirmation, and there is no terminal", deed).With("%s confirms it", flags)
}

// read reads one line, or returns when the context ends: the remaining goroutine waits for input while the process ends.
func (c *Console) read(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(c.Err, prompt)
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(c.In).ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-lines:
		if errors.Is(got.err, io.EOF) {
			fmt.Fprintln(c.Err) // the user did not press Enter
		}
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return "", got.err
		}
		return got.text, nil
	}
}
