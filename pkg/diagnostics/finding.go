package diagnostics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Severity is the severity of a finding.
type Severity string

// The severities. Files with an error are refused, files with warnings only are not.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one problem.
type Finding struct {
	// Rule is the name by which it is selected and looked up, such as image-tag.
	Rule string `json:"rule"`
	// Severity is Error or Warning.
	Severity Severity `json:"severity"`
	// File as the user named it; empty when the finding is not about a file.
	File string `json:"file,omitempty"`
	// Line and Column count from 1; 0 when unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Field is the path in the file, such as icons[0].link.
	Field string `json:"field,omitempty"`
	// Message describes the problem in one sentence.
	Message string `json:"message"`
	// Fix describes what to do.
	Fix string `json:"fix,omitempty"`
}

// Rule explains the name of a rule.
type Rule struct {
	// Name as findings carry it.
	Name string `json:"name"`
	// Text is what must hold, in one sentence.
	Text string `json:"text"`
}

// Place returns file:line:column, without unknown parts.
func (f Finding) Place() string {
	place := f.File
	if f.Line > 0 {
		place = joined(place, strconv.Itoa(f.Line))
		if f.Column > 0 {
			place = joined(place, strconv.Itoa(f.Column))
		}
	}
	return place
}

func joined(place, more string) string {
	if place == "" {
		return more
	}
	return place + ":" + more
}

// String returns the line in the style of compilers: place, severity, field, message and rule, with the fix after the message.
func (f Finding) String() string {
	text := string(f.Severity) + ": "
	if place := f.Place(); place != "" {
		text = place + ": " + text
	}
	if f.Field != "" {
		text += f.Field + ": "
	}
	text += f.Message
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return fmt.Sprintf("%s (%s)", text, f.Rule)
}

// Headings returns the columns of [Finding.Row].
func Headings() []string { return []string{"SEVERITY", "PLACE", "FIELD", "MESSAGE", "FIX", "RULE"} }

// Row returns the finding as a row of a table.
func (f Finding) Row() []string {
	return []string{string(f.Severity), f.Place(), f.Field, f.Message, f.Fix, f.Rule}
}

// Sort orders findings as users read them: by file, line and column; then errors before warnings, then by field, rule and message.
// Identical findings are kept once.
func Sort(findings []Finding) []Finding {
	sorted := slices.Clone(findings)
	slices.SortFunc(sorted, compare)
	return slices.Compact(sorted)
}

func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Fix, b.Fix),
	)
}

// Count returns how many errors and how many warnings there are.
func Count(findings []Finding) (errors, warnings int) {
	for i := range findings {
		if findings[i].Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// Failed reports whether there is an error among the findings.
func Failed(findings []Finding) bool {
	errors, _ := Count(findings)
	return errors > 0
}

// Select keeps the findings of the given rules; all of them when none is given.
func Select(findings []Finding, rules []string) []Finding {
	if len(rules) == 0 {
		return findings
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !slices.Contains(rules, f.Rule) })
}
