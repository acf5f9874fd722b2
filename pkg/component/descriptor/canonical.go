package descriptor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// canonical encodes a JSON value by RFC 8785 (JCS): keys sorted by their UTF-16 code units, numbers as ECMAScript writes them, and only
// those characters escaped that must be.
func canonical(value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(value), func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		return list('{', '}', len(keys), func(i int) []byte {
			return append(append(canonicalText(keys[i]), ':'), canonical(value[keys[i]])...)
		})
	case []any:
		return list('[', ']', len(value), func(i int) []byte { return canonical(value[i]) })
	case string:
		return canonicalText(value)
	case float64:
		if value == 0 { // and minus zero
			return []byte("0")
		}
	}
	return leaf(value)
}

// entries encodes a JSON value by OCM's first normalisation: an object is a sorted list of its fields, each an object of its own.
func entries(value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(value))
		return list('[', ']', len(keys), func(i int) []byte {
			return slices.Concat([]byte("{"), leaf(keys[i]), []byte(":"), entries(value[keys[i]]), []byte("}"))
		})
	case []any:
		return list('[', ']', len(value), func(i int) []byte { return entries(value[i]) })
	}
	return leaf(value)
}

func list(open, end byte, length int, item func(int) []byte) []byte {
	written := []byte{open}
	for i := range length {
		if i > 0 {
			written = append(written, ',')
		}
		written = append(written, item(i)...)
	}
	return append(written, end)
}

// leaf returns Go's JSON of a scalar value. Its numbers have ECMAScript's notation.
func leaf(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // what came out of JSON goes back into it
	}
	return text
}

// canonicalText encodes a string by RFC 8785.
func canonicalText(text string) []byte {
	written := []byte{'"'}
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			written = append(written, '\\', byte(r))
		case r == '\b':
			written = append(written, `\b`...)
		case r == '\f':
			written = append(written, `\f`...)
		case r == '\n':
			written = append(written, `\n`...)
		case r == '\r':
			written = append(written, `\r`...)
		case r == '\t':
			written = append(written, `\t`...)
		case r < ' ':
			written = fmt.Appendf(written, `\u%04x`, r)
		default:
			written = append(written, string(r)...)
		}
	}
	return append(written, '"')
}

// checkKeys refuses two keys of one object that differ only in case: Go's decoders treat them as the same key, so that a reader could see
// something else than what was signed.
func checkKeys(value any) error {
	switch value := value.(type) {
	case map[string]any:
		seen := make(map[string]string, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			folded := fold(key)
			if other, twice := seen[folded]; twice {
				return fmt.Errorf("it has both %s and %s in one place", strconv.Quote(other), strconv.Quote(key))
			}
			seen[folded] = key
			if err := checkKeys(value[key]); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range value {
			if err := checkKeys(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold returns equal results for texts that encoding/json treats as the same key.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		lowest := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			lowest = min(lowest, next)
		}
		return lowest
	}, text)
}
