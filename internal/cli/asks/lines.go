package asks

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// The kinds of Line.
const (
	New     = "new"
	Changed = "changed"
	Gone    = "gone"
)

// Line is one thing that a version may do, or one that differs from the version that it is compared with.
type Line struct {
	Severity permissions.Severity
	// Change is New, Changed or Gone; empty where nothing was compared.
	Change   string
	Category permissions.Category
	Sentence string
	// Rule is where it comes from, and Subject who gets the right.
	Rule, Subject string
}

// Lines returns what a version may do, or how that differs, the gravest first.
func (a *Answer) Lines() []Line {
	var lines []Line
	if a.Difference == nil {
		for i := range a.Report.Findings {
			lines = append(lines, lineOf(&a.Report.Findings[i], ""))
		}
		return lines
	}
	d := a.Difference
	lines = append(lines, rights(d.Added, New)...)
	lines = append(lines, rights(d.Removed, Gone)...)
	lines = append(lines, a.definitions()...)
	lines = append(lines, named(d.WebhooksChanged, permissions.CategoryWebhook, Changed, "Changes ")...)
	lines = append(lines, named(d.WebhooksRemoved, permissions.CategoryWebhook, Gone, "No longer has ")...)
	lines = append(lines, named(d.APIServicesChanged, permissions.CategoryAPIService, Changed, "Changes ")...)
	lines = append(lines, named(d.APIServicesRemoved, permissions.CategoryAPIService, Gone, "No longer serves ")...)
	lines = append(lines, images(d.ImagesAdded, New, "Runs images from ")...)
	lines = append(lines, images(d.ImagesRemoved, Gone, "No longer runs images from ")...)
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(order[a.Change], order[b.Change]))
	})
	return slices.CompactFunc(lines, func(a, b Line) bool { return a == b })
}

// order is that of changes of one severity.
var order = map[string]int{New: 0, Changed: 1, Gone: 2}

func lineOf(f *permissions.Finding, change string) Line {
	return Line{f.Severity, change, f.Category, f.Sentence, f.Rule, f.Subject}
}

func named(all []permissions.Named, category permissions.Category, change, text string) []Line {
	var lines []Line
	for _, one := range all {
		lines = append(lines, Line{Severity: permissions.Low, Change: change, Category: category, Sentence: text + one.Name + "."})
	}
	return lines
}

func images(all []permissions.Image, change, text string) []Line {
	var lines []Line
	for _, one := range all {
		sentence := text + one.Registry + "/" + one.Repository + "."
		lines = append(lines, Line{Severity: permissions.Low, Change: change, Category: permissions.CategoryImage, Sentence: sentence})
	}
	return lines
}

// rights returns the findings but those about definitions, which have a comparison of their own.
func rights(all []permissions.Finding, change string) []Line {
	var lines []Line
	for i := range all {
		if all[i].Category != permissions.CategoryDefinition {
			lines = append(lines, lineOf(&all[i], change))
		}
	}
	return lines
}

func (a *Answer) definitions() []Line {
	var lines []Line
	for _, one := range a.Difference.DefinitionsChanged {
		change := Changed
		switch {
		case !slices.ContainsFunc(a.Report.Definitions, func(d permissions.CustomDefinition) bool { return d.Name == one.Name }):
			change = Gone
		case slices.ContainsFunc(a.Difference.Added, func(f permissions.Finding) bool { return slices.Contains(one.Sentences, f.Sentence) }):
			change = New
		}
		for _, sentence := range one.Sentences {
			lines = append(lines, Line{Severity: one.Severity, Change: change, Category: permissions.CategoryDefinition, Sentence: sentence})
		}
	}
	return lines
}

// Summary returns what is new with a version in one line, such as "3 new rights, 1 webhook"; empty when nothing is, or that is not known.
func (a *Answer) Summary() string {
	switch {
	case a.Difference != nil:
		rightsAdded, rightsRemoved, definitions, webhooks, images := a.Difference.Counts()
		return modulestatus.PendingCounts(v1beta2.PendingCounts{
			RightsAdded: rightsAdded, RightsRemoved: rightsRemoved, Definitions: definitions, Webhooks: webhooks, Images: images,
		})
	case a.Pending != nil:
		return modulestatus.PendingCounts(a.Pending.Counts)
	}
	return ""
}
