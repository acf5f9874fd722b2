package manifest

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// updateSignature records in the status the signature policy's verdict on what the spec requests. It changes nothing else: what runs
// continues although a key was revoked or a stricter policy took effect, and what is new was refused before it was applied. A verdict holds
// until spec or policy change or a certificate expires, so that it rarely costs a call. It returns when to retry one that failed.
func (r *Reconciler) updateSignature(ctx context.Context, w *scope) time.Duration {
	status := &w.manifest.Status
	policy := r.Content.Policy(w.manifest)
	if policy == "" {
		status.Signature = nil
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == v1beta2.ConditionSigned })
		return 0
	}
	if w.hasVerdict(policy) {
		return 0
	}
	signed := r.Content.Judge(ctx, w.manifest, w.askCapabilities)
	w.setCondition(v1beta2.ConditionSigned, signed.Status, signed.Reason, signed.Message)
	if signed.Status == metav1.ConditionUnknown {
		return signed.Retry
	}
	made := signed.Signature
	if known := status.Signature; known != nil {
		made.VerifiedAt = known.VerifiedAt
		if equality.Semantic.DeepEqual(*known, made) {
			return 0
		}
	}
	made.VerifiedAt = w.now.Rfc3339Copy()
	status.Signature = &made
	return 0
}

// hasVerdict reports whether the status holds this policy's verdict on the current spec, by certificates that have not expired since.
func (w *scope) hasVerdict(policy string) bool {
	known := w.manifest.Status.Signature
	told := conditions.Find(w.manifest.Status.Conditions, v1beta2.ConditionSigned)
	if known == nil || known.Policy != policy || told == nil || told.Status == metav1.ConditionUnknown ||
		told.ObservedGeneration != w.generation {
		return false
	}
	return !slices.ContainsFunc(known.Signers, func(signer v1beta2.SignerStatus) bool {
		return signer.Until != nil && signer.Until.Before(&w.now)
	})
}

// askCapabilities queries the cluster where there is a connection; a pass without one has reported why.
func (w *scope) askCapabilities(ctx context.Context) (runtimes.Capabilities, error) {
	if w.runtime == nil {
		return runtimes.Capabilities{}, errUnanswered
	}
	known, err := w.capabilities(ctx)
	known.Installation = nil // images and rights are judged as the chart declares them for any installation
	return known, err
}

func (r *Reconciler) counted(key types.NamespacedName, status *v1beta2.SignatureStatus) {
	if r.Verdicts != nil {
		r.Verdicts.Record(key, status)
	}
}
