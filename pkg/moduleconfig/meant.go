package moduleconfig

import (
	"maps"
	"slices"
	"strings"
)

// meant returns the fix for an unknown key.
func meant(key string, keys map[string]handler) string {
	if near := closest(key, slices.Sorted(maps.Keys(keys))); near != "" {
		return "did you mean " + near + "?"
	}
	return "remove it"
}

// closest returns the word that a misspelt one probably stands for: the same except for case, dashes and underscores, or at most two
// letters away. Empty when there is none.
func closest(word string, words []string) string {
	const far = 3
	if len(word) > 2*quotedBytes {
		return ""
	}
	best, distance := "", far
	for _, candidate := range words {
		d := letters(plain(word), plain(candidate))
		if d < distance && d < len(candidate)/2 {
			best, distance = candidate, d
		}
	}
	return best
}

func plain(word string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word))
}

// letters returns how many letters must be inserted, removed or changed to turn one word into the other (Levenshtein).
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := above
			if a[i] != b[j] {
				change++
			}
			above = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
