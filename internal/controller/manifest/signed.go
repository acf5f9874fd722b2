package manifest

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// judge tells in the status what the policy for signatures says of what is asked for. It changes nothing else: what runs goes on although a
// key was revoked or a stricter policy came into force, and what is new was refused before it was applied. A judgement holds until spec or
// policy change or a certificate expires, so that at rest it costs no call. It returns when to come back for one that could not be made.
func (r *Reconciler) judge(ctx context.Context, w *work) time.Duration {
	status := &w.manifest.Status
	policy := r.Content.Policy(w.manifest)
	if policy == "" {
		status.Signature = nil
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == v1beta2.ConditionSigned })
		return 0
	}
	if w.judged(policy) {
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

// judged tells that the status holds a judgement under this policy of what is asked for, which no certificate has ended since.
func (w *work) judged(policy string) bool {
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

// askCapabilities asks the cluster where there is a connection; a pass that got none has told why.
func (w *work) askCapabilities(ctx context.Context) (Capabilities, error) {
	if w.runtime == nil {
		return Capabilities{}, errUnanswered
	}
	return w.capabilities(ctx)
}

func (r *Reconciler) counted(key types.NamespacedName, status *v1beta2.SignatureStatus) {
	if r.Verdicts != nil {
		r.Verdicts.Judged(key, status)
	}
}
