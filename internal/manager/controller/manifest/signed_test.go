package manifest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func TestJudge_KeepsVerdictUntilSomethingChanges(t *testing.T) {
	r := newReconciler(t)
	content := r.Content.(*contents)
	now := testTime
	manifest := newManifest()
	judge := func() (time.Duration, *metav1.Condition) {
		t.Helper()
		w := newScope(manifest, now)
		w.runtime = &cluster{}
		retry := r.updateSignature(t.Context(), w)
		manifest = w.manifest
		return retry, conditions.Find(manifest.Status.Conditions, v1beta2.ConditionSigned)
	}
	if _, told := judge(); told != nil || manifest.Status.Signature != nil || content.judged != 0 {
		t.Errorf("without a policy: %+v", told)
	}
	until := metav1.NewTime(testTime.Add(time.Hour))
	content.policy = "first"
	content.signed = Signed{Status: metav1.ConditionTrue, Reason: v1beta2.ReasonVerified, Signature: v1beta2.SignatureStatus{
		Policy: "first", Require: "enforce", Reason: v1beta2.ReasonVerified, Signers: []v1beta2.SignerStatus{{Key: "a", Until: &until}},
	}}
	for range 2 {
		if retry, told := judge(); retry != 0 || told == nil || told.Status != metav1.ConditionTrue || content.judged != 1 {
			t.Errorf("under a policy: %+v, judged %d times", told, content.judged)
		}
	}
	if at := manifest.Status.Signature.VerifiedAt; !at.Equal(&testTime) {
		t.Errorf("verified at %s", at)
	}
	for name, change := range map[string]func(){
		"another policy":             func() { content.policy, content.signed.Signature.Policy = "second", "second" },
		"another spec":               func() { manifest.Generation++ },
		"a certificate that expired": func() { now = metav1.NewTime(until.Add(time.Second)) },
	} {
		before := content.judged
		change()
		if judge(); content.judged != before+1 {
			t.Errorf("%s: judged %d times more", name, content.judged-before)
		}
	}
}

func TestJudge_RetriesUnknownVerdict(t *testing.T) {
	r := newReconciler(t)
	content := r.Content.(*contents)
	content.policy = "first"
	content.signed = Signed{Status: metav1.ConditionUnknown, Reason: v1beta2.ReasonRegistryUnreachable, Retry: time.Minute}
	w := newScope(newManifest(), testTime)
	for range 2 {
		if retry := r.updateSignature(t.Context(), w); retry != time.Minute || w.manifest.Status.Signature != nil {
			t.Errorf("asks again after %s: %+v", retry, w.manifest.Status.Signature)
		}
	}
	if content.judged != 2 {
		t.Errorf("judged %d times", content.judged)
	}
}

func TestJudge_KeepsModuleRunningWithARevokedKey(t *testing.T) {
	w, _ := settledWork()
	r := newReconciler(t)
	r.Content = &contents{policy: "second", signed: Signed{
		Status: metav1.ConditionFalse, Reason: v1beta2.ReasonSignatureRevoked, Message: "the key was revoked",
		Signature: v1beta2.SignatureStatus{Policy: "second", Reason: v1beta2.ReasonSignatureRevoked},
	}}
	w.report(w.healthy())
	r.updateSignature(t.Context(), w)
	told := conditions.Find(w.manifest.Status.Conditions, v1beta2.ConditionSigned)
	if w.manifest.Status.State != v1beta2.StateReady || told == nil || told.Reason != v1beta2.ReasonSignatureRevoked {
		t.Errorf("state %s, %+v", w.manifest.Status.State, told)
	}
}
