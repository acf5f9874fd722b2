package versioncontent

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Requires returns what the version of a template needs, by its template and by its component, without rendering it. Where the component
// cannot be read, the template's word is returned with the error.
func (l *Loader) Requires(
	ctx context.Context, release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate,
) ([]v1beta2.Requirement, error) {
	ctx, done := l.within(ctx)
	defer done()
	at, err := l.locate(release, template)
	if err != nil {
		return required(template, nil), err
	}
	found, err := l.reader(at).Get(ctx, at.name, at.version)
	if err != nil {
		return required(template, nil), l.explain(ctx, at, err)
	}
	return required(template, found), nil
}

// required returns what a version needs, by its template and by its component, which may be nil. A list that cannot be read is left out:
// the manager reports it.
func required(template *v1beta2.ModuleTemplate, component *descriptor.Component) []v1beta2.Requirement {
	var spec []requirements.Requirement
	for _, one := range template.Spec.Requires {
		spec = append(spec, requirements.Requirement(one))
	}
	lists := [][]requirements.Requirement{spec, parsed(template.Annotations[v1beta2.AnnotationRequires])}
	if component != nil {
		for _, label := range component.Labels {
			if label.Name == v1beta2.AnnotationRequires {
				lists = append(lists, parsed(string(label.Value)))
			}
		}
	}
	var all []v1beta2.Requirement
	for _, one := range requirements.Union(lists...) {
		all = append(all, v1beta2.Requirement(one))
	}
	return all
}

func parsed(text string) []requirements.Requirement {
	list, err := requirements.ParseList(text)
	if err != nil {
		return nil
	}
	return list
}
