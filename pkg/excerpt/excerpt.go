// Package excerpt shortens texts that a message quotes.
//
// It cuts by bytes, at whole characters. It does not consider words or lines, and has no knowledge of the meaning of a text: remove secrets
// first.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis replaces omitted text.
const Ellipsis = "…"

// Cut returns the beginning of a text, at most limit bytes including the ellipsis. Invalid UTF-8 becomes question marks.
func Cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(Ellipsis), 0)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + Ellipsis
}

// Pair returns two texts, each in at most limit bytes, around their first difference: of a long common beginning, only the last limit/4
// bytes are shown. Otherwise both would be cut at the same place, and look alike.
func Pair(before, after string, limit int) (was, is string) {
	before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
	shared := Shared(before, after)
	if max(len(before), len(after)) <= limit || shared < limit/2 {
		return Cut(before, limit), Cut(after, limit)
	}
	from := shared - limit/4
	for !utf8.RuneStart(before[from]) { // both have the same bytes here
		from--
	}
	return Cut(Ellipsis+before[from:], limit), Cut(Ellipsis+after[from:], limit)
}

// Shared returns how many bytes the common beginning of two texts has.
func Shared(one, other string) int {
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return i
		}
	}
	return min(len(one), len(other))
}
