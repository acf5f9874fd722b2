package modulelint

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Module is the module to judge.
type Module struct {
	// Config as moduleconfig.Parse read it.
	Config *moduleconfig.Config
	// Manifest is the text of the manifest, and ManifestFile the name that findings carry. Nil means that it is not available, which is not a
	// finding: rules about the manifest are skipped then.
	Manifest     []byte
	ManifestFile string
	// Objects are the rendered manifest, when it is not plain YAML (a chart, a kustomization, a folder). When nil, Manifest is parsed.
	Objects []*unstructured.Unstructured
	// Namespace is the author's namespace for objects that name none; empty when there is none. Chart means that Objects are those of a chart,
	// whose release was then rendered with render.DefaultNamespace.
	Namespace string
	Chart     bool
	// Tree holds the files that Objects come from, if the manifest is a folder, which ManifestFile names then. Objects that occur in them as
	// rendered are reported with file and line.
	Tree *content.Tree
	// DefaultCR is the text of the default custom resource, if the module has one.
	DefaultCR     []byte
	DefaultCRFile string
}

// Options select the rules and inputs of a lint.
type Options struct {
	// Rules by name; empty means all.
	Rules []string
	// Fetch requests a link. When nil, links are not checked.
	Fetch FetchFunc
	// Against holds the objects of an earlier version, which is upgraded to this one; nil skips the comparison.
	Against []*unstructured.Unstructured
}

// FetchFunc returns why a link does not lead anywhere; nil when it does.
type FetchFunc func(link string) error

// linter collects the findings about one module.
type linter struct {
	Module

	options  Options
	manifest *source
	cr       *source
	findings []diagnostics.Finding
}

// Lint judges a module whose configuration has been read, and returns its problems in the order of [diagnostics.Sort].
//
//  1. A manifest that cannot be parsed is one finding, and nothing else in it is judged.
//  2. Images, manager and definitions are judged in the manifest, images of the configuration too.
//  3. The default custom resource is judged by its definition, which must be in the manifest and valid.
//  4. Definitions are compared with those of an earlier version, if there is one.
//  5. Rights are judged as far as roles ask for everything of a kind.
//  6. Links are requested last, if there is a Fetch.
func Lint(module Module, options Options) []diagnostics.Finding {
	if module.Config == nil {
		module.Config = &moduleconfig.Config{}
	}
	l := &linter{
		Module: module, options: options,
		manifest: &source{file: module.ManifestFile, data: module.Manifest, tree: module.Tree},
		cr:       &source{file: module.DefaultCRFile, data: module.DefaultCR},
	}
	if objects, ok := l.parse(); ok {
		l.images(objects)
		l.namespaces(objects)
		l.manager(objects)
		definitions := l.definitions(objects)
		l.defaultCR(definitions)
		l.associated(definitions)
		l.changes(objects)
		l.rights(objects)
	}
	l.links()
	return diagnostics.Sort(diagnostics.Select(l.findings, options.Rules))
}

func (l *linter) selects(rule string) bool {
	return len(l.options.Rules) == 0 || slices.Contains(l.options.Rules, rule)
}

// inConfig notes a problem with a field of the configuration.
func (l *linter) inConfig(rule string, severity diagnostics.Severity, field, message, fix string) {
	line, column := l.Config.Position(field)
	l.findings = append(l.findings, diagnostics.Finding{
		Rule: rule, Severity: severity, File: l.Config.File, Line: line, Column: column, Field: field, Message: message, Fix: fix,
	})
}

// inObject notes a problem with a field of an object, which the message names.
func (l *linter) inObject(from *source, id inventory.ID, rule string, severity diagnostics.Severity, field, message, fix string) {
	if !l.selects(rule) {
		return // finding its position takes a while
	}
	file, line, column := from.place(id, field)
	l.findings = append(l.findings, diagnostics.Finding{
		Rule: rule, Severity: severity, File: file, Line: line, Column: column, Field: field, Message: message, Fix: fix,
	})
}

// errorLine matches the lines that an error of the parser names; the last one is the innermost place.
var errorLine = regexp.MustCompile(`\bline (\d+)`)

// unreadable notes that a file cannot be parsed.
func (l *linter) unreadable(from *source, rule string, err error, fix string) {
	line := 0
	if matches := errorLine.FindAllStringSubmatch(err.Error(), -1); len(matches) > 0 {
		line, _ = strconv.Atoi(matches[len(matches)-1][1]) // digits, or 0
	}
	l.findings = append(l.findings, diagnostics.Finding{
		Rule: rule, Severity: diagnostics.Error, File: from.file, Line: line, Message: "cannot be read: " + err.Error(), Fix: fix,
	})
}

// parse returns the objects of the manifest; ok is false when there is nothing to judge.
func (l *linter) parse() (objects []*unstructured.Unstructured, ok bool) {
	if l.Objects != nil {
		return l.Objects, true
	}
	if l.Manifest == nil {
		return nil, false
	}
	objects, err := render.Parse(bytes.NewReader(l.Manifest), render.DefaultLimit)
	if err != nil {
		l.unreadable(l.manifest, RuleManifest, err, "correct it there")
		return nil, false
	}
	if len(objects) == 0 {
		l.findings = append(l.findings, diagnostics.Finding{
			Rule: RuleManifest, Severity: diagnostics.Error, File: l.ManifestFile,
			Message: "declares no object", Fix: "put the module's objects into it",
		})
		return nil, false
	}
	return objects, true
}

// links requests every link of the configuration once.
func (l *linter) links() {
	if l.options.Fetch == nil || !l.selects(RuleReachable) {
		return
	}
	c, asked := l.Config, map[string]error{}
	ask := func(field, link string) {
		if link == "" || !moduleconfig.IsURL(link) {
			return
		}
		err, done := asked[link]
		if !done {
			err = l.options.Fetch(link)
			asked[link] = err
		}
		if err != nil {
			l.inConfig(RuleReachable, diagnostics.Error, field, "the link cannot be read: "+err.Error(), "correct it, or publish its target")
		}
	}
	ask("repository", c.Repository)
	ask("documentation", c.Documentation)
	ask("manifest", c.Manifest)
	ask("defaultCR", c.DefaultCR)
	for i, icon := range c.Icons {
		ask(c.LinkField("icons", i, icon), icon.Link)
	}
	for i, resource := range c.Resources {
		ask(c.LinkField("resources", i, resource), resource.Link)
	}
}
