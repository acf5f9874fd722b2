package console

import (
	"regexp"
	"slices"
	"strings"
)

// Colours of states: good, in progress, needs attention.
var colours = map[string]string{
	"Ready": "32", "Installed": "32", "True": "32",
	"Processing": "36", "Installing": "36", "Upgrading": "36", "Deleting": "36",
	"Warning": "33", "Outdated": "33",
	"Error": "31", "Failed": "31", "False": "31",
	"Completed": "32", "Passed": "32",
	"Progressing": "36", "Soaking": "36",
	"RollingBack": "33", "RolledBack": "33", "Aborted": "33",
	"Halted": "31",
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// paint colours the words that are states, in tables that have such columns.
func (c *Console) paint(text string, columns []Column) string {
	if !c.Color || !slices.ContainsFunc(columns, func(column Column) bool { return column.State }) {
		return text
	}
	head, body, _ := strings.Cut(text, "\n")
	return head + "\n" + word.ReplaceAllStringFunc(body, c.State)
}

// State returns a state, coloured if colours are allowed.
func (c *Console) State(state string) string {
	if colour := colours[state]; c.Color && colour != "" {
		return "\x1b[" + colour + "m" + state + "\x1b[0m"
	}
	return state
}
