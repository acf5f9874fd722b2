package module

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// AbnormalOf returns the condition by which kstatus tells a Kyma or a Manifest in that state from one that is current; "" for none.
//
//  1. Ready has none: kstatus reads condition Ready, and says Current.
//  2. Error is Stalled: Failed, until it heals.
//  3. Warning has none: condition Ready is False, so that kstatus says InProgress. It runs, which Failed would deny, and it is not what was
//     asked for, which Current would claim.
//  4. Everything else is Reconciling: InProgress.
func AbnormalOf(state v1beta2.State) string {
	switch state {
	case v1beta2.StateReady, v1beta2.StateUnmanaged, v1beta2.StateWarning:
		return ""
	case v1beta2.StateError:
		return v1beta2.ConditionStalled
	default:
		return v1beta2.ConditionReconciling
	}
}

// SetAbnormal keeps Reconciling and Stalled in step with a state and with condition Ready, whose reason and message they repeat. It is
// called when both are final.
func SetAbnormal(conds *[]metav1.Condition, state v1beta2.State, now metav1.Time) {
	kind, ready := AbnormalOf(state), conditions.Find(*conds, v1beta2.ConditionReady)
	if ready == nil {
		ready = &metav1.Condition{Reason: v1beta2.ReasonPending}
	}
	conditions.SetAbnormal(conds, kind, ready.Reason, ready.Message, ready.ObservedGeneration, now)
}
