package v1beta2

import "cmp"

// ModuleName returns the module that the template describes: spec.moduleName, or in older templates a label; empty when neither is set.
func (t *ModuleTemplate) ModuleName() string {
	return cmp.Or(t.Spec.ModuleName, t.Labels[LabelModuleName])
}

// ModuleVersion returns the version that the template describes: spec.version, or in older templates an annotation; empty when neither is
// set.
func (t *ModuleTemplate) ModuleVersion() string {
	return cmp.Or(t.Spec.Version, t.Annotations[AnnotationModuleVersion])
}
