package waitfor

import (
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// End is what an Outcome means to the caller.
type End string

// The ends.
const (
	// Done: the request is fulfilled.
	Done End = "Done"
	// Warned: the request is fulfilled, but with a warning.
	Warned End = "Warned"
	// Failed: it needs a change by a user.
	Failed End = "Failed"
	// Open: the time ran out first.
	Open End = "Open"
)

// End returns how the wait ended and why, in a few words: the first line in that state and the number of others in it. For Open, line is
// the first line that is still in progress.
func (o Outcome) End() (end End, why string, line *Progress) {
	switch o.State {
	case v1beta2.StateReady, v1beta2.StateUnmanaged, StateGone:
		return Done, "", nil
	case v1beta2.StateWarning:
		return Warned, o.summary(), nil
	case v1beta2.StateError:
		return Failed, o.summary(), nil
	case v1beta2.StateProcessing, v1beta2.StateDeleting:
	}
	for i := range o.Lines {
		if severity(o.Lines[i].State) > 0 {
			return Open, fmt.Sprintf("%s is still %s", o.Lines[i].Key, o.Lines[i].State), &o.Lines[i]
		}
	}
	return Open, "nothing happened", nil
}

// Summary returns the reason of End without the text of the line, for users who have just read that text.
func (o Outcome) Summary() string {
	if end, why, _ := o.End(); end == Done || end == Open {
		return why
	}
	return o.named(false)
}

// summary names the first line in the overall state, with its text, and counts the others.
func (o Outcome) summary() string { return o.named(true) }

func (o Outcome) named(withText bool) string {
	first, count := Progress{}, 0
	for _, line := range o.Lines {
		if line.State != o.State {
			continue
		}
		if count++; count == 1 {
			first = line
		}
	}
	text := fmt.Sprintf("%s is in state %s", first.Key, o.State)
	if withText && first.Text != "" {
		text += ": " + first.Text
	}
	if count > 1 {
		text += fmt.Sprintf(" (and %d more)", count-1)
	}
	return text
}
