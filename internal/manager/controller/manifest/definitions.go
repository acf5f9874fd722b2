package manifest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryObjects is the pause before existing objects that do not fit are checked again: nothing watches them, and users may fix them.
const retryObjects = 15 * time.Second

// checkCRDs refuses changes of CustomResourceDefinitions that break their users, before anything is written, unless the spec allows their
// rules by name.
func (w *scope) checkCRDs(ctx context.Context, steps []inventory.Step, options apply.Options) error {
	broken, err := engine.CheckDefinitions(ctx, w.runtime.Cluster(), steps, w.allowedRules(), options)
	if failed, ok := errors.AsType[*apply.Error](err); ok {
		return w.clusterProblem(failed.ID, failed)
	}
	if err != nil || len(broken) == 0 {
		return err
	}
	return &runtimes.Problem{Reason: v1beta2.ReasonCRDChangeRefused, Message: crdsafety.Message(broken), Retry: retryFindings(broken)}
}

// allowedRules returns the rules that the spec allows to be broken, by name.
func (w *scope) allowedRules() []string {
	allowed := make([]string, 0, len(w.manifest.Spec.AllowCRDChanges))
	for _, rule := range w.manifest.Spec.AllowCRDChanges {
		allowed = append(allowed, string(rule))
	}
	return allowed
}

// retryFindings returns a short pause where objects do not fit, and a long one where only other content or another spec helps.
func retryFindings(left []crdsafety.Finding) time.Duration {
	if slices.ContainsFunc(left, func(f crdsafety.Finding) bool { return f.Rule != crdsafety.ObjectInvalid }) {
		return retryIncompatible
	}
	return retryObjects
}
