package communitycatalog

import (
	"context"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// Options select the checks.
type Options struct {
	// Rules by name; none means all.
	Rules []string
	// Content reads the target of a link. Without it no link is followed, and the objects of modules are not checked.
	Content func(ctx context.Context, link string) ([]byte, error)
}

// linter collects findings.
type linter struct {
	options  Options
	entries  []*entry
	findings []diagnostics.Finding
}

// Lint checks the folder of a catalog, and returns its problems in the order of [diagnostics.Sort].
//
//  1. A file that does not belong there or cannot be read is a finding; the others are still checked.
//  2. Each template is checked by itself: names, version, links, texts, labels, default custom resource.
//  3. All templates are checked together: duplicate versions, icons that several modules share, channels without a template.
//  4. The targets of the links are checked last, if Options.Content is set.
func Lint(ctx context.Context, files fs.FS, options Options) []diagnostics.Finding {
	entries, strays, err := walk(files)
	l := &linter{options: options, entries: entries}
	if err != nil {
		l.add(diagnostics.Finding{
			Rule: RuleLayout, Severity: diagnostics.Error, File: Root, Message: err.Error(), Fix: "kyma catalog export makes such a folder",
		})
	}
	for _, bad := range strays {
		l.add(diagnostics.Finding{
			Rule: bad.rule, Severity: diagnostics.Error, File: bad.file, Line: bad.line, Message: bad.message, Fix: bad.fix,
		})
	}
	l.judge(ctx)
	return diagnostics.Sort(diagnostics.Select(l.findings, options.Rules))
}

// Check checks a parsed catalog, by the same rules except those about files. A finding's file is the name of the object.
func Check(ctx context.Context, c Catalog, options Options) []diagnostics.Finding {
	l := &linter{options: options}
	for i := range c.Templates {
		one := &item{object: loose(&c.Templates[i]), template: &c.Templates[i]}
		l.entries = append(l.entries, &entry{item: one, file: c.Templates[i].Name, loose: true})
	}
	for i := range c.Releases {
		one := &item{object: loose(&c.Releases[i]), release: &c.Releases[i]}
		l.entries = append(l.entries, &entry{item: one, file: c.Releases[i].Name, loose: true})
	}
	l.judge(ctx)
	return diagnostics.Sort(diagnostics.Select(l.findings, options.Rules))
}

// loose returns a typed object as fields. An object that cannot be converted has no fields, and rules about fields find nothing.
func loose(object any) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		fields = map[string]any{}
	}
	return &unstructured.Unstructured{Object: fields}
}

func (l *linter) judge(ctx context.Context) {
	for _, e := range l.entries {
		if e.template != nil {
			l.template(e)
		}
		for _, unknown := range e.unknown {
			l.warn(e, RuleUnknownField, "", unknown, "remove it, or correct its name")
		}
	}
	l.together()
	if l.options.Content == nil {
		return
	}
	for _, e := range l.entries {
		if e.template != nil {
			l.content(ctx, e)
		}
	}
}

func (l *linter) selects(rule string) bool {
	return len(l.options.Rules) == 0 || slices.Contains(l.options.Rules, rule)
}

func (l *linter) add(f diagnostics.Finding) {
	if l.selects(f.Rule) {
		l.findings = append(l.findings, f)
	}
}

// err adds an error for a field, warn a warning.
func (l *linter) err(e *entry, rule, field, message, fix string) {
	l.note(e, diagnostics.Error, rule, field, message, fix)
}

func (l *linter) warn(e *entry, rule, field, message, fix string) {
	l.note(e, diagnostics.Warning, rule, field, message, fix)
}

func (l *linter) note(e *entry, severity diagnostics.Severity, rule, field, message, fix string) {
	if !l.selects(rule) {
		return // the position takes a while to find
	}
	var at position
	if !e.loose {
		at = place(e.data, e.object.GetKind(), e.object.GetName(), field)
	}
	l.add(diagnostics.Finding{
		Rule: rule, Severity: severity, File: e.file, Line: at.line, Column: at.column, Field: field, Message: message, Fix: fix,
	})
}
