package module

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// lost are the reasons of a Kyma or a Manifest whose runtime cannot be used, whatever the module does.
var lost = []string{
	v1beta2.ReasonRuntimeUnreachable, v1beta2.ReasonRuntimeUnauthorized, v1beta2.ReasonRuntimeReplaced, v1beta2.ReasonAccessSecretNotFound,
	v1beta2.ReasonAccessSecretAmbiguous, v1beta2.ReasonKubeconfigInvalid, v1beta2.ReasonKubeconfigRefused,
	v1beta2.ReasonRuntimeClaimed,
	v1beta2.ReasonLocalAccessMissing, v1beta2.ReasonLocalNamespaceRefused,
}

// IsLost reports whether a condition Ready says that the runtime cannot be used; nil is none.
func IsLost(ready *metav1.Condition) bool {
	return ready != nil && ready.Status != metav1.ConditionTrue && slices.Contains(lost, ready.Reason)
}

// LostReason returns the reason for which the runtime of a Kyma cannot be used, as the Kyma or one of its Manifests tells it; empty when it
// can. manifest may be nil.
func LostReason(kyma *v1beta2.Kyma, manifest *v1beta2.Manifest) string {
	told := [][]metav1.Condition{kyma.Status.Conditions}
	if manifest != nil {
		told = append(told, manifest.Status.Conditions)
	}
	for _, all := range told {
		if ready := conditions.Find(all, v1beta2.ConditionReady); IsLost(ready) {
			return ready.Reason
		}
	}
	return ""
}
