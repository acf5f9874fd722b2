package module

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// annotateDeadline tells the Manifest controller how long an upgrade may take before the module goes back by itself. A module that is not
// in the spec any more keeps what it has: that is no reason to write.
func annotateDeadline(kyma *v1beta2.Kyma, v *Verdict, annotations map[string]string) {
	at := slices.IndexFunc(kyma.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == v.Module })
	switch {
	case v.Mandatory:
	case at < 0 && v.Manifest != nil:
		keepAnnotation(v.Manifest, annotations, v1beta2.AnnotationProgressDeadline)
	case at >= 0 && kyma.Spec.Modules[at].OnFailedUpgrade == v1beta2.FailedUpgradeRollback:
		annotations[v1beta2.AnnotationProgressDeadline] = deadlineOf(&kyma.Spec.Modules[at]).String()
	}
}

// keepAnnotation copies an annotation of a Manifest, if it has it.
func keepAnnotation(manifest *v1beta2.Manifest, annotations map[string]string, name string) {
	if value := manifest.Annotations[name]; value != "" {
		annotations[name] = value
	}
}
