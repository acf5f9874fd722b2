package crdsafety

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// namedFindings is how many findings a message spells out. More do not help anybody to decide.
	namedFindings = 10
	// findingBytes and nameBytes bound the parts of a message, so that the whole stays below 8 KiB whatever the definition says.
	findingBytes = 640
	nameBytes    = 253
	// quotedBytes bounds what is quoted of a definition in one finding.
	quotedBytes = 80
)

// Message tells what is wrong with the change of a definition, and what to do: up to 10 findings in full, the rest by number. It is
// below 8 KiB, and empty when there is no finding.
func Message(crd string, findings []Finding) string {
	if len(findings) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the change of CustomResourceDefinition %s is not safe: ", shorten(crd, nameBytes))
	for i, finding := range findings[:min(len(findings), namedFindings)] {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(shorten(finding.String(), findingBytes))
	}
	if rest := len(findings) - namedFindings; rest > 0 {
		fmt.Fprintf(&text, "; and %d more", rest)
	}
	fmt.Fprintf(&text, ". What runs is kept. Publish a version that changes it compatibly, or allow it by name in allowCRDChanges: %s",
		strings.Join(broken(findings), ", "))
	return text.String()
}

// String is "Rule: version path: message", without what is empty.
func (f Finding) String() string {
	where := strings.TrimSpace(f.Version + " " + f.Path)
	if where == "" {
		return f.Rule + ": " + f.Message
	}
	return f.Rule + ": " + where + ": " + f.Message
}

// broken lists the rules of the findings once each, in the order of [Rules]. A finding with a rule that this package does not know
// cannot be allowed by name, so it is not offered.
func broken(findings []Finding) []string {
	return slices.DeleteFunc(Rules(), func(rule string) bool {
		return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == rule })
	})
}

// shorten cuts a text to a number of bytes, at a whole character.
func shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= limit {
		return text
	}
	const ellipsis = "…"
	end := limit - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// quoted is a text of a definition as a message repeats it.
func quoted(text string) string { return shorten(text, quotedBytes) }
