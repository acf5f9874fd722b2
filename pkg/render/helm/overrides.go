package helm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"helm.sh/helm/v4/pkg/strvals"
)

const (
	// maxOverrides is how many bytes a set string may have.
	maxOverrides = 64 << 10
	// maxIndex and maxIndices bound the lists that a set string makes: "a[60000]=1" is ten bytes and a list of 60,001 items. Helm bounds
	// each of them alone.
	maxIndex   = 1000
	maxIndices = 20_000
)

// quotedText is how strvals quotes what it was given, which may be part of a secret.
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// parseOverrides reads a Helm set string, such as `a.b=1,c={x,y},d[0].e=z`; nil for an empty one.
func parseOverrides(text string) (map[string]any, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxOverrides {
		return nil, fmt.Errorf("are longer than %d KiB: use values", maxOverrides>>10)
	}
	if err := checkIndices(text); err != nil {
		return nil, err
	}
	values, err := strvals.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("cannot be read as a set string of Helm (a=1,b.c=2, with commas in values as \\,): %s",
			shorten(quotedText.ReplaceAllString(err.Error(), "...")))
	}
	return values, nil
}

// checkIndices looks at the "[n]" in the keys.
func checkIndices(text string) error {
	total, inKey, start := 0, true, -1
	for at := 0; at < len(text); at++ {
		switch char := text[at]; {
		case char == '\\':
			at++
		case char == ',':
			inKey, start = true, -1
		case !inKey:
		case char == '=':
			inKey = false
		case char == '[':
			start = at + 1
		case char == ']' && start >= 0:
			index, err := strconv.Atoi(text[start:at])
			if err != nil || index < 0 || index > maxIndex {
				return fmt.Errorf("have an index in brackets that is no number from 0 to %d", maxIndex)
			}
			if total += index + 1; total > maxIndices {
				return errors.New("have indices in brackets that make too long lists: use values")
			}
			start = -1
		}
	}
	return nil
}
