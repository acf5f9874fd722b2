package crdsafety

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// namedPlaces bounds the places that a message names for each rule. More do not help to decide.
	namedPlaces = 3
	// placeBytes and nameBytes bound the parts of a message, messageBytes the whole, whatever a definition contains.
	placeBytes   = 640
	nameBytes    = 253
	messageBytes = 8 << 10
	// quotedBytes bounds each quotation from a definition in a finding.
	quotedBytes = 80
)

// Message describes what is wrong with the change of definitions, and what to do. It is below 8 KiB, and empty when there is no finding.
//
//  1. The rules to allow come first, because a program that shows the message may truncate it.
//  2. The findings follow as [Describe] lists them.
func Message(findings []Finding) string {
	if len(findings) == 0 {
		return ""
	}
	of, _ := definitionsOf(findings)
	text := fmt.Sprintf("the change of %s is not safe; publish a version that changes it compatibly,"+
		" or allow it by name in allowCRDChanges: %s. What runs is kept. ", of, strings.Join(broken(findings), ", "))
	return excerpt.Cut(text+Describe(findings), messageBytes)
}

// Describe lists findings by rule, in the order of [Rules]: how many there are, and the first three places.
func Describe(findings []Finding) string {
	_, several := definitionsOf(findings)
	var groups []string
	for _, rule := range rulesOf(findings) {
		same := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Rule != rule })
		groups = append(groups, fmt.Sprintf("%s (%d): %s", rule, len(same), places(same, several)))
	}
	return excerpt.Cut(strings.Join(groups, ". "), messageBytes)
}

// places lists the first places of one rule. A message that they all share is included once.
func places(of []Finding, several bool) string {
	named := of[:min(len(of), namedPlaces)]
	once := !slices.ContainsFunc(named, func(f Finding) bool { return f.Message != named[0].Message })
	var texts []string
	for _, finding := range named {
		parts := []string{finding.place(several)}
		if !once {
			parts = append(parts, finding.Message)
		}
		texts = append(texts, excerpt.Cut(joined(": ", parts...), placeBytes))
	}
	rest := ""
	if len(of) > len(named) {
		rest = fmt.Sprintf("and %d more", len(of)-len(named))
	}
	if once {
		return joined(": ", joined(" ", joined(", ", texts...), rest), excerpt.Cut(named[0].Message, placeBytes))
	}
	return joined("; ", append(texts, rest)...)
}

// place returns where a finding is; empty for the definition that the message names.
func (f Finding) place(several bool) string {
	definition := ""
	if several {
		definition = excerpt.Cut(f.Definition, nameBytes)
	}
	return joined(" ", definition, f.Version, f.Path)
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// definitionsOf returns the name of the definition, or the number of definitions when there are several.
func definitionsOf(findings []Finding) (text string, several bool) {
	names := map[string]bool{}
	for _, finding := range findings {
		names[finding.Definition] = true
	}
	if len(names) > 1 {
		return fmt.Sprintf("%d CustomResourceDefinitions", len(names)), true
	}
	for name := range names {
		return "CustomResourceDefinition " + excerpt.Cut(name, nameBytes), false
	}
	return "", false
}

// String returns "Rule: version path: message", without empty parts.
func (f Finding) String() string {
	where := strings.TrimSpace(f.Version + " " + f.Path)
	if where == "" {
		return f.Rule + ": " + f.Message
	}
	return f.Rule + ": " + where + ": " + f.Message
}

// broken lists the rules of the findings once each, in the order of [Rules]. A finding whose rule is unknown to this package cannot be
// allowed by name, so it is not offered.
func broken(findings []Finding) []string {
	return slices.DeleteFunc(Rules(), func(rule string) bool {
		return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == rule })
	})
}

// rulesOf returns those of broken, followed by the unknown ones.
func rulesOf(findings []Finding) []string {
	named := broken(findings)
	for _, finding := range findings {
		if !slices.Contains(named, finding.Rule) {
			named = append(named, finding.Rule)
		}
	}
	return named
}

// quoted shortens a text of a definition for a message.
func quoted(text string) string { return excerpt.Cut(text, quotedBytes) }
