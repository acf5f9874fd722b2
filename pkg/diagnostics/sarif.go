package diagnostics

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

const (
	toolName = "kyma"
	toolURI  = "https://github.com/kyma-project/lifecycle-manager"
	// anyRule is the rule of a finding without one: SARIF requires a rule.
	anyRule = "other"
)

// SARIF writes findings as a SARIF 2.1.0 log, in the order of [Sort] and ending in a newline. version is the tool's. rules explains the
// rules of the findings; rules without findings are listed too, so that a reader sees what was checked.
func SARIF(findings []Finding, version string, rules ...Rule) ([]byte, error) {
	run := sarif.NewRunWithInformationURI(toolName, toolURI)
	if version != "" {
		run.Tool.Driver.WithVersion(version)
	}
	sorted := Sort(findings)
	describe(run, sorted, rules)
	for i := range sorted {
		run.AddResult(result(run, &sorted[i]))
	}
	report := sarif.NewReport()
	report.AddRun(run)
	var text bytes.Buffer
	if err := report.PrettyWrite(&text); err != nil {
		return nil, fmt.Errorf("write the findings as SARIF: %w", err)
	}
	return append(text.Bytes(), '\n'), nil
}

// describe lists the given rules, then the others that findings name.
func describe(run *sarif.Run, findings []Finding, rules []Rule) {
	for _, rule := range rules {
		run.AddRule(rule.Name).WithDescription(rule.Text)
	}
	var others []string
	for i := range findings {
		others = append(others, ruleOf(&findings[i]))
	}
	slices.Sort(others)
	for _, name := range slices.Compact(others) {
		run.AddRule(name)
	}
}

func ruleOf(f *Finding) string {
	if f.Rule == "" {
		return anyRule
	}
	return f.Rule
}

func result(run *sarif.Run, f *Finding) *sarif.Result {
	level := sarif.LevelWarning
	if f.Severity == Error {
		level = sarif.LevelError
	}
	text := f.Message
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	rule := ruleOf(f)
	made := sarif.NewRuleResult(rule).WithRuleIndex(run.GetRuleIndex(rule)).WithLevel(level).WithMessage(sarif.NewTextMessage(text))
	if location := location(f); location != nil {
		made.AddLocation(location)
	}
	return made
}

// location returns where the finding is; nil when it has no place.
func location(f *Finding) *sarif.Location {
	if f.File == "" && f.Field == "" {
		return nil
	}
	found := sarif.NewLocation()
	if f.Field != "" {
		found.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(f.Field).WithKind("member"))
	}
	if f.File == "" {
		return found
	}
	at := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(address(f.File)))
	if f.Line > 0 {
		region := sarif.NewRegion().WithStartLine(f.Line)
		if f.Column > 0 {
			region.WithStartColumn(f.Column)
		}
		at.WithRegion(region)
	}
	return found.WithPhysicalLocation(at)
}

// address returns a file as a URI: an absolute path gets a scheme, a relative one stays relative, as code hosts require.
func address(file string) string {
	slashed := filepath.ToSlash(file)
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: slashed}).String()
	}
	return (&url.URL{Path: slashed}).String()
}
