package versioncontent

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
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
		return required(template, module.Component{}), err
	}
	found, err := l.reader(at).Get(ctx, at.name, at.version)
	if err != nil {
		return required(template, module.Component{}), l.explain(ctx, at, err)
	}
	component, err := installable.Of(found)
	if err != nil {
		return required(template, module.Component{}), l.explain(ctx, at, err)
	}
	return required(template, component), nil
}

// required returns what a version needs, by its template and by its component. What is invalid is left out: the manager refuses it.
func required(template *v1beta2.ModuleTemplate, component module.Component) []v1beta2.Requirement {
	own, _ := module.Requires(template)
	var all []v1beta2.Requirement
	for _, one := range requirements.Union(own, component.Requires) {
		all = append(all, v1beta2.Requirement(one))
	}
	return all
}
