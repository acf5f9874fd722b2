package module

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func conditionStatus(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// RuntimeStatus returns the status for the Kyma in the runtime: the hub's status without the data that is for the hub only (Manifests, the
// two specs, the runtime's identity), with the runtime's own templates, and with the generation of the runtime's spec, so that clients that
// wait there for a generation see the right one.
func RuntimeStatus(status *v1beta2.KymaStatus, generation int64) v1beta2.KymaStatus {
	told := *status.DeepCopy()
	told.LastSeen, told.RuntimeID = nil, ""
	told.ObservedGeneration = generation
	for i := range told.Conditions {
		told.Conditions[i].ObservedGeneration = generation
	}
	for i := range told.Modules {
		told.Modules[i].Manifest = nil
		if template := told.Modules[i].Template; template != nil {
			template.Namespace = v1beta2.RuntimeNamespace
		}
	}
	return told
}

// DeletingStatus returns the status for the Kyma in the runtime when its Kyma on the hub is deleted. Its conditions stay, as upstream's do,
// but kstatus must not call it current.
func DeletingStatus(status *v1beta2.KymaStatus, generation int64, now metav1.Time) v1beta2.KymaStatus {
	told := RuntimeStatus(status, generation)
	told.State = v1beta2.StateDeleting
	told.Operation = v1beta2.OperationSetDeleting
	conditions.SetAbnormal(&told.Conditions, v1beta2.ConditionReconciling, v1beta2.ReasonDeleting, told.Operation, generation, now)
	return told
}
