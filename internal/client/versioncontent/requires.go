package versioncontent

import (
	"encoding/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// requirements returns what a version needs, by its template and by its component. A list that cannot be read is left out: the manager
// reports it.
func requirements(template *v1beta2.ModuleTemplate, component *descriptor.Component) []v1beta2.Requirement {
	var all []v1beta2.Requirement
	add := func(more []v1beta2.Requirement) {
		for _, one := range more {
			if !contains(all, one) {
				all = append(all, one)
			}
		}
	}
	add(template.Spec.Requires)
	add(parseRequires([]byte(template.Annotations[v1beta2.AnnotationRequires])))
	for _, label := range component.Labels {
		if label.Name == v1beta2.AnnotationRequires {
			add(parseRequires(label.Value))
		}
	}
	return all
}

func contains(all []v1beta2.Requirement, one v1beta2.Requirement) bool {
	for i := range all {
		if all[i] == one {
			return true
		}
	}
	return false
}

func parseRequires(text []byte) []v1beta2.Requirement {
	var list []v1beta2.Requirement
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}
