package modulestatus

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// folded stands for what differs from cluster to cluster.
	folded = "*"
	// mostPattern bounds how much of a message is compared.
	mostPattern = 300
	// leastName is the shortest name of a Kyma that is looked for in messages: a shorter one may be any word.
	leastName = 3
)

// PatternOf returns a message without what differs from cluster to cluster, so that the same cause gives the same text everywhere: numbers,
// hashes, suffixes of generated names, the name of the Kyma, and objects outside of the namespaces of modules become an asterisk. Status
// codes and versions of APIs stay.
func PatternOf(message, kyma string) string {
	message = strings.ToValidUTF8(message[:min(len(message), mostPattern)], "")
	_, name, _ := strings.Cut(kyma, "/")
	words := strings.Fields(message)
	patterns := make([]string, 0, len(words))
	before := ""
	for _, word := range words {
		core := strings.Trim(word, punctuation)
		if core == "" {
			patterns = append(patterns, word)
			continue
		}
		head, tail, _ := strings.Cut(word, core)
		patterns = append(patterns, head+foldedWord(before, core, name)+tail)
		before = core
	}
	return strings.Join(patterns, " ")
}

const punctuation = "\"'`“”‘’()[]{}<>,;:.!?"

// foldedWord folds a word that stands behind another one.
func foldedWord(before, word, kyma string) string {
	switch {
	case statusCode(before, word):
		return word
	case userObject(before, word):
		return folded
	}
	word = withoutName(word, kyma)
	var text strings.Builder
	for start := 0; start < len(word); {
		end := start
		for end < len(word) && inSegment(word[end]) {
			end++
		}
		if end == start {
			text.WriteByte(word[end])
			start++
			continue
		}
		text.WriteString(foldedSegment(word[start:end]))
		start = end
	}
	return collapsed(text.String())
}

// statusCode reports whether a word is a status of HTTP that says what went wrong.
func statusCode(before, word string) bool {
	said := strings.EqualFold(before, "status") || strings.EqualFold(before, "code") || strings.EqualFold(before, "http")
	return said && len(word) == 3 && (word[0] == '4' || word[0] == '5') && digits(word) == 3
}

// userObject reports whether a word is NAMESPACE/NAME behind a kind, in a namespace that is not one of a module: users name these.
func userObject(before, word string) bool {
	namespace, name, found := strings.Cut(word, "/")
	kind, _ := utf8.DecodeRuneInString(before)
	return found && unicode.IsUpper(kind) && label(namespace) && label(name) && !apiVersion(name) && !strings.HasSuffix(namespace, "-system")
}

// label reports whether a text can be the name of a namespace, and is no number.
func label(text string) bool {
	for i := range len(text) {
		if c := text[i]; !alphanumeric(c) && c != '-' || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return text != "" && digits(text) < len(text)
}

// withoutName folds the name of a Kyma, also as a part of the names of objects that are made for it.
func withoutName(word, name string) string {
	if len(name) < leastName {
		return word
	}
	var text strings.Builder
	for {
		at := strings.Index(word, name)
		if at < 0 {
			return text.String() + word
		}
		end := at + len(name)
		text.WriteString(word[:at])
		if at > 0 && alphanumeric(word[at-1]) || end < len(word) && alphanumeric(word[end]) {
			text.WriteString(name)
		} else {
			text.WriteString(folded)
		}
		word = word[end:]
	}
}

// foldedSegment folds a name such as beacon-manager-7d9f8b6c5-x2x4z, an address or a version.
func foldedSegment(segment string) string {
	if uuid(segment) {
		return folded
	}
	var text strings.Builder
	for start := 0; ; {
		end := start
		for end < len(segment) && alphanumeric(segment[end]) {
			end++
		}
		text.WriteString(foldedPart(segment[start:end], start == 0))
		if end == len(segment) {
			return text.String()
		}
		text.WriteByte(segment[end])
		start = end + 1
	}
}

// foldedPart folds one part of a name; first says that nothing of the name stands before it.
func foldedPart(part string, first bool) string {
	switch count := digits(part); {
	case count == 0 && !first && generated(part):
		return folded
	case count == 0, part == "k8s", apiVersion(part):
		return part
	case len(part) >= 4, part[0] <= '9':
		return folded
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '*'
		}
		return r
	}, part)
}

// generated reports whether a part without digits looks like the suffix of a generated name: Kubernetes uses no vowels in them.
func generated(part string) bool {
	long := len(part) == 5 || len(part) >= 8 && len(part) <= 10
	return long && strings.Trim(part, "bcdfghjklmnpqrstvwxz") == ""
}

// apiVersion reports whether a part is a version of an API, such as v1beta2.
func apiVersion(part string) bool {
	rest, found := strings.CutPrefix(part, "v")
	if !found {
		return false
	}
	for _, stage := range []string{"alpha", "beta"} {
		if major, minor, is := strings.Cut(rest, stage); is {
			return number(major) && number(minor)
		}
	}
	return number(rest)
}

func number(text string) bool { return text != "" && digits(text) == len(text) && len(text) <= 2 }

func uuid(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (text[i] == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(text[i])) {
			return false
		}
	}
	return true
}

// collapsed makes one asterisk of several that only dots, colons and the like separate, as in an address.
func collapsed(word string) string {
	if strings.Count(word, folded) < 2 {
		return word
	}
	for _, between := range []string{"", ".", ":", "-", "_"} {
		for strings.Contains(word, folded+between+folded) {
			word = strings.ReplaceAll(word, folded+between+folded, folded)
		}
	}
	return word
}

func digits(text string) int {
	count := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			count++
		}
	}
	return count
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func inSegment(c byte) bool { return alphanumeric(c) || c == '-' || c == '_' || c == '.' }
