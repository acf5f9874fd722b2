package modulestatus

import (
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Requires returns what the version of a template needs, as the template says in its spec and in its annotation. A component version can
// list more. An annotation that cannot be read counts for nothing here: the lifecycle manager reports it.
func Requires(template *v1beta2.ModuleTemplate) []requirements.Requirement {
	if template == nil {
		return nil
	}
	spec := make([]requirements.Requirement, 0, len(template.Spec.Requires))
	for _, one := range template.Spec.Requires {
		spec = append(spec, requirements.Requirement(one))
	}
	marked, err := requirements.ParseList(template.Annotations[v1beta2.AnnotationRequires])
	if err != nil {
		marked = nil
	}
	return requirements.Union(spec, marked)
}
