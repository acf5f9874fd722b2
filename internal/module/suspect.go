package module

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// aboutContent are the reasons of a Manifest that concern the content of a component version and do not resolve themselves: the version, or
// another one, must be published again.
var aboutContent = []string{
	v1beta2.ReasonContentTooLarge, v1beta2.ReasonContentInvalid, v1beta2.ReasonContentNotFound, v1beta2.ReasonArchiveRefused,
	v1beta2.ReasonSourceInvalid, v1beta2.ReasonSourceUnsupported, v1beta2.ReasonValuesInvalid, v1beta2.ReasonNonDeterministic,
	v1beta2.ReasonHooksRefused, v1beta2.ReasonRemoteBaseRefused, v1beta2.ReasonDigestMismatch,
}

// SuspectComponents returns the component versions of Manifests that cannot be installed as they are. The cached content may be outdated:
// there is no event when a version is published again.
func SuspectComponents(w Snapshot) map[ComponentKey]bool {
	doubted := map[ComponentKey]bool{}
	for i := range w.Manifests {
		m := &w.Manifests[i]
		ready := conditions.Find(m.Status.Conditions, v1beta2.ConditionReady)
		if ready == nil || ready.ObservedGeneration != m.Generation || !slices.Contains(aboutContent, ready.Reason) {
			continue
		}
		doubted[ComponentKey{Name: m.Annotations[v1beta2.AnnotationFQDN], Version: m.Spec.Version}] = true
	}
	return doubted
}
