package module

import (
	"cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// CountsResource reports whether the custom resource of a Manifest's module counts for its readiness, as the Kyma controller marked it: the
// Kyma decides that, or else the template.
func CountsResource(manifest *v1beta2.Manifest) bool {
	return countsResource(v1beta2.Readiness(manifest.Annotations[v1beta2.AnnotationReadiness]))
}

func countsResource(readiness v1beta2.Readiness) bool {
	return readiness == v1beta2.ReadinessModuleCR || readiness == v1beta2.ReadinessBoth
}

// ResourceReady reports whether the custom resource of a Manifest's module is ready, or the Manifest has none.
func ResourceReady(manifest *v1beta2.Manifest) bool {
	return judgeResource(manifest).state == v1beta2.StateReady
}

// ModuleState returns the state of a Manifest's module as it is known from the Manifest: a custom resource that counts, and reports another
// state than Ready, makes what is installed no better than that.
func ModuleState(manifest *v1beta2.Manifest) v1beta2.State {
	state, resource := manifest.Status.State, manifest.Status.ResourceState
	if state == v1beta2.StateReady && CountsResource(manifest) && resource != "" {
		return resource
	}
	return state
}

// readinessOf returns what counts for the readiness of a module with a template: what the Kyma says, or else the template.
func readinessOf(kyma *v1beta2.Kyma, template *v1beta2.ModuleTemplate) v1beta2.Readiness {
	if template == nil {
		return kyma.Spec.Readiness
	}
	return cmp.Or(kyma.Spec.Readiness, template.Spec.Readiness)
}

// annotateReadiness tells the Manifest controller that the module's custom resource counts, so that a revision does not succeed without it.
func annotateReadiness(kyma *v1beta2.Kyma, v *Verdict, annotations map[string]string) {
	if readiness := readinessOf(kyma, v.Template); countsResource(readiness) {
		annotations[v1beta2.AnnotationReadiness] = string(readiness)
	}
}
