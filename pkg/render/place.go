package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxParserText cuts what a YAML parser says: it repeats the content, which may be long.
const maxParserText = 300

var parserLine = regexp.MustCompile(`\bline (\d+): `)

// place is where something stands in the content.
type place struct {
	document int
	line     int
	items    string
}

// String is "document 3 (line 57), item 2".
func (p place) String() string {
	return fmt.Sprintf("document %d (line %d)%s", p.document, p.line, p.items)
}

// down returns the place after text.
func (p place) down(text []byte) place {
	p.line += bytes.Count(text, []byte("\n"))
	return p
}

// inside returns the place of an item of the list at p.
func (p place) inside(item int) place {
	p.items += fmt.Sprintf(", item %d", item)
	return p
}

func (p place) invalid(err error) error {
	return &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf("%s: %w", p, err)}
}

// malformed is invalid for what a parser says. It counts lines from the start of the document and writes several lines of its own;
// users look for one line of the file.
func (p place) malformed(err error) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	text = parserLine.ReplaceAllStringFunc(text, func(found string) string {
		number, err := strconv.Atoi(parserLine.FindStringSubmatch(found)[1])
		if err != nil {
			return found
		}
		return fmt.Sprintf("line %d: ", p.line+number-1)
	})
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxParserText {
		text = string(runes[:maxParserText]) + "..."
	}
	return p.invalid(fmt.Errorf("is malformed: %s", text))
}
