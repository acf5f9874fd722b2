package crdsafety

import (
	"strings"
	"unicode/utf8"
)

// changef reports that a text changes, and shows both where they differ. The format has a verb for each.
func (c *comparison) changef(rule, path, format, before, after string) {
	before, after = contrast(before, after)
	c.addf(rule, path, format, orNone(before), orNone(after))
}

// contrast shortens two texts to where they differ: of a long beginning that both have, only the end is shown. Otherwise both would be cut
// at the same place and look alike.
func contrast(before, after string) (was, is string) {
	before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
	shared := alike(before, after)
	if max(len(before), len(after)) <= quotedBytes || shared < quotedBytes/2 {
		return quoted(before), quoted(after)
	}
	from := shared - sharedBytes
	for !utf8.RuneStart(before[from]) { // both have the same bytes here
		from--
	}
	return quoted(ellipsis + before[from:]), quoted(ellipsis + after[from:])
}

// alike is how many bytes two texts begin with alike.
func alike(one, other string) int {
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return i
		}
	}
	return min(len(one), len(other))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
