package communitycatalog

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// The subjects of findings of modulelint, in place of files; they are mapped to fields of the template.
const (
	aboutConfig   = "\x00config"
	aboutResource = "\x00resource"
)

// content checks the target of the link rawManifest.
//
//  1. It exists, and has the digest that the template names.
//  2. It is YAML with objects, and its images, definitions and manager satisfy modulelint.
//  3. The default custom resource matches its definition, and has the scope that the template names.
func (l *linter) content(ctx context.Context, e *entry) {
	link, at := linkOf(e.template)
	if at < 0 || !strings.HasPrefix(link, "https://") {
		return // reported already
	}
	field := fmt.Sprintf("spec.resources[%d].link", at)
	data, err := l.options.Content(ctx, link)
	if err != nil {
		l.err(e, RuleContent, field, "cannot be read: "+short(err.Error()), "correct it, or publish its target")
		return
	}
	is := digestOf(data)
	want, there := e.template.Annotations[v1beta2.AnnotationRawManifestDigest]
	switch {
	case !there:
		l.warn(e, RuleDigest, field, "what it leads to has the digest "+is, "add the annotation "+v1beta2.AnnotationRawManifestDigest+": "+is)
	case want != is && digestPattern.MatchString(want):
		l.err(e, RuleDigest, field, "what it leads to has the digest "+is+", and the template says "+want,
			"find out who changed it; a version is published once")
	}
	objects, err := render.Parse(bytes.NewReader(data), render.DefaultLimit)
	if err != nil {
		l.err(e, RuleContent, field, "what it leads to cannot be read: "+short(err.Error()), "publish YAML with the module's objects")
		return
	}
	if e.template.Spec.Data != nil {
		scoped, known := clusterScoped(objects, e.template.Spec.Data)
		if told := e.template.Annotations[v1beta2.AnnotationIsClusterScoped] == v1beta2.EnabledValue; known && told != scoped {
			l.err(e, RuleScope, "metadata.annotations["+v1beta2.AnnotationIsClusterScoped+"]",
				fmt.Sprintf("is not what the definition of %s says", e.template.Spec.Data.GetKind()), fmt.Sprintf(`set it to "%t"`, scoped))
		}
	}
	l.module(e, link, data)
}

// module passes the content to modulelint.
func (l *linter) module(e *entry, link string, data []byte) {
	spec := &e.template.Spec
	config := &moduleconfig.Config{File: aboutConfig, Name: e.template.ModuleName(), Version: e.template.ModuleVersion()}
	for _, kind := range spec.AssociatedResources {
		config.AssociatedResources = append(config.AssociatedResources, moduleconfig.Kind(kind))
	}
	if m := spec.Manager; m != nil {
		config.Manager = &moduleconfig.Manager{
			Kind: moduleconfig.Kind(m.GroupVersionKind), Name: m.Name, Namespace: m.Namespace,
		}
	}
	module := modulelint.Module{Config: config, Manifest: data, ManifestFile: link, DefaultCRFile: aboutResource}
	if spec.Data != nil {
		text, err := yaml.Marshal(spec.Data.Object)
		if err != nil {
			l.err(e, RuleDefault, "spec.data", "cannot be read", "correct it there")
			return
		}
		module.DefaultCR = text
	}
	for _, found := range modulelint.Lint(module, modulelint.Options{Rules: l.options.Rules}) {
		l.taken(e, link, found)
	}
}

// taken converts a finding of modulelint to one of the template. A problem in the manifest itself is reported for the link.
func (l *linter) taken(e *entry, link string, found diagnostics.Finding) {
	_, at := linkOf(e.template)
	field := fmt.Sprintf("spec.resources[%d].link", at)
	switch found.File {
	case aboutConfig:
		field = "spec." + found.Field
	case aboutResource:
		field = strings.TrimSuffix("spec.data."+found.Field, ".")
	default:
		if found.File == link && found.Line > 0 {
			found.Message = fmt.Sprintf("line %d of it: %s", found.Line, found.Message)
		}
	}
	l.note(e, found.Severity, found.Rule, field, found.Message, found.Fix)
}
