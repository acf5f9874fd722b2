// Package excerpt shortens texts that a message repeats.
//
// It cuts by bytes, at whole characters. It does not look for words or lines, and knows nothing of what a text means: what must not be
// shown must be taken out before.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis stands for what is left out.
const Ellipsis = "…"

// Cut returns the beginning of a text, at most limit bytes with the ellipsis. What is no UTF-8 becomes question marks.
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

// Pair returns two texts, each in at most limit bytes, where they differ: of a long beginning that both have, only the last limit/4 bytes
// are shown. Otherwise both would be cut at the same place, and look alike.
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

// Shared returns how many bytes two texts begin with alike.
func Shared(one, other string) int {
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return i
		}
	}
	return min(len(one), len(other))
}
