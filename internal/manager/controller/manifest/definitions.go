package manifest

import (
	"context"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryObjects is the pause before existing objects that do not fit are checked again: nothing watches them, and users may fix them.
const retryObjects = 15 * time.Second

// checkCRDs compares every CustomResourceDefinition that is about to change with the one in the cluster, and the existing objects of its
// kind with the new schema. Changes that break users are refused before anything is written, all of them at once, unless the spec allows
// their rules by name.
func (r *Reconciler) checkCRDs(ctx context.Context, w *scope, steps []inventory.Step) error {
	allowed := make([]string, 0, len(w.manifest.Spec.AllowCRDChanges))
	for _, rule := range w.manifest.Spec.AllowCRDChanges {
		allowed = append(allowed, string(rule))
	}
	relation := r.relation(ctx, w)
	var left []crdsafety.Finding
	for _, step := range steps {
		if step.Entry.GroupKind() != inventory.CRDKind || step.Why == inventory.WhyMissing || step.Why == inventory.WhyDrifted {
			continue
		}
		if live := w.runtime.Live(step.Entry.ID); live.Presence == inventory.Present && relation(live.Owner) == apply.OwnerSibling {
			continue // it is shared, and not changed by us
		}
		findings, err := w.runtime.Cluster().CheckDefinition(ctx, step.Object)
		if err != nil {
			return w.clusterProblem(step.Entry.ID, err)
		}
		left = append(left, crdsafety.Refuse(findings, allowed)...)
	}
	if len(left) == 0 {
		return nil
	}
	return &runtimes.Problem{Reason: v1beta2.ReasonCRDChangeRefused, Message: crdsafety.Message(left), Retry: retryFindings(left)}
}

// retryFindings returns a short pause where objects do not fit, and a long one where only other content or another spec helps.
func retryFindings(left []crdsafety.Finding) time.Duration {
	if slices.ContainsFunc(left, func(f crdsafety.Finding) bool { return f.Rule != crdsafety.ObjectInvalid }) {
		return retryIncompatible
	}
	return retryObjects
}
