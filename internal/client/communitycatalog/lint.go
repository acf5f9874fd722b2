package communitycatalog

import (
	"context"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// Options select what is judged.
type Options struct {
	// Rules by name; none means all.
	Rules []string
	// Content reads what a link leads to. Without it no link is followed, and nothing is said of the objects of modules.
	Content func(ctx context.Context, link string) ([]byte, error)
}

// linter gathers findings.
type linter struct {
	options  Options
	entries  []*entry
	findings []diagnostics.Finding
}

// Lint judges the folder of a catalog, and returns what is wrong in the order of [diagnostics.Sort].
//
//  1. Files that do not belong there or cannot be read are a finding each, and the others are judged.
//  2. Each template is judged by itself: names, version, links, texts, labels, default custom resource.
//  3. All of them are judged together: versions that are there twice, icons that several modules share, channels that lead nowhere.
//  4. What the links lead to is judged last, if there is something to read it with.
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

// Check judges a catalog that was read, by the same rules but for those of files. A finding's file is the name of the object.
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

// loose returns a typed object as fields. What cannot be converted has none: rules that ask for fields find nothing to say.
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

// err notes what is wrong with a field, warn what could be better.
func (l *linter) err(e *entry, rule, field, message, fix string) {
	l.note(e, diagnostics.Error, rule, field, message, fix)
}

func (l *linter) warn(e *entry, rule, field, message, fix string) {
	l.note(e, diagnostics.Warning, rule, field, message, fix)
}

func (l *linter) note(e *entry, severity diagnostics.Severity, rule, field, message, fix string) {
	if !l.selects(rule) {
		return // where it stands takes a while to find
	}
	var at position
	if !e.loose {
		at = place(e.data, e.object.GetKind(), e.object.GetName(), field)
	}
	l.add(diagnostics.Finding{
		Rule: rule, Severity: severity, File: e.file, Line: at.line, Column: at.column, Field: field, Message: message, Fix: fix,
	})
}
