package playground

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// nameWidth is wide enough for the names of steps and Kymas.
const nameWidth = 10

// progress shows a user what happens: a line when a step begins and one when it ends.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	now   func() time.Time
	began time.Time
}

func newProgress(out io.Writer, now func() time.Time) *progress {
	return &progress{out: out, now: now, began: now()}
}

// sayf writes a paragraph.
func (p *progress) sayf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// notef writes a line with the time since the start.
func (p *progress) notef(name, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("%6.1f s  %-*s  %s", p.now().Sub(p.began).Seconds(), nameWidth, name, fmt.Sprintf(format, args...))
	fmt.Fprintln(p.out, strings.TrimRight(line, " "))
}

// step runs one step and prints how long it took, with the text that work returns when it succeeds.
func (p *progress) step(name, doing string, work func() (done string, err error)) error {
	p.notef(name, "%s ...", doing)
	began := p.now()
	done, err := work()
	if err != nil {
		return &StepError{Step: name, Doing: doing, Err: err}
	}
	p.notef(name, "%s (took %.1f s)", done, p.now().Sub(began).Seconds())
	return nil
}

// StepError names the step that failed.
type StepError struct {
	// Step is the short name that the lines of the step begin with.
	Step string
	// Doing describes the step.
	Doing string
	// Err is why it failed.
	Err error
}

// Error returns one sentence; the underlying error may add lines to it.
func (e *StepError) Error() string {
	return fmt.Sprintf("step %q (%s) failed: %v", e.Step, e.Doing, e.Err)
}

// Unwrap returns the underlying error.
func (e *StepError) Unwrap() error { return e.Err }
