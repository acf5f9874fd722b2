package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// parses returns why a line of an example cannot be run: it must lead to its own command, with flags and arguments that the command
// accepts.
func parses(line string, own *cobra.Command) error {
	args, err := words(line)
	if err != nil {
		return err
	}
	if len(args) == 0 || args[0] != "kyma" {
		return errors.New("it does not begin with kyma")
	}
	root := New(&console.Console{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, target.New())
	root.InitDefaultCompletionCmd()
	command, rest, err := root.Find(args[1:])
	if err != nil {
		return err
	}
	if command.CommandPath() != own.CommandPath() {
		return fmt.Errorf("it is about %s, not %s", command.CommandPath(), own.CommandPath())
	}
	if err := command.ParseFlags(rest); err != nil {
		return err
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		return err
	}
	return command.ValidateRequiredFlags()
}

// words returns the words of a shell line, up to the first pipe, redirection or &&. Quotes hold words together; $(...) is one word.
func words(line string) ([]string, error) {
	var found []string
	var current strings.Builder
	inWord, quote, depth := false, rune(0), 0
	end := func() {
		if inWord {
			found = append(found, current.String())
		}
		current.Reset()
		inWord = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			current.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == '(':
			depth++
			current.WriteRune(r)
		case r == ')':
			depth--
			current.WriteRune(r)
		case depth > 0:
			current.WriteRune(r)
		case r == ' ':
			end()
		default:
			inWord = true
			current.WriteRune(r)
		}
	}
	if quote != 0 || depth != 0 {
		return nil, errors.New("a quote or bracket is not closed")
	}
	end()
	for i, w := range found {
		if w == "|" || w == ">" || w == "&&" || w == "<" || w == "#" {
			return found[:i], nil
		}
	}
	return found, nil
}
