package modulestatus

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestSignatures(t *testing.T) {
	for reason, want := range map[string]string{
		v1beta2.ReasonSignatureMissing: SignatureMissing, v1beta2.ReasonSignatureInvalid: SignatureInvalid,
		v1beta2.ReasonSignatureUntrusted: SignatureUntrusted, v1beta2.ReasonSignatureRevoked: SignatureRevoked,
		v1beta2.ReasonContentNotCovered: SignatureIncomplete, v1beta2.ReasonVerified: SignatureVerified, "": SignatureUnknown,
	} {
		if is := (&entry{}).signed(reason).State; is != want {
			t.Errorf("%q says %s, want %s", reason, is, want)
		}
	}
}

func TestSigned_WhoSignedIsTold(t *testing.T) {
	at := metav1.Now()
	signature := &v1beta2.SignatureStatus{
		Reason: v1beta2.ReasonVerified, Digest: "sha256:a", VerifiedAt: at,
		Signers: []v1beta2.SignerStatus{{Key: "sha256:b"}, {Key: "sha256:c", Subject: "CN=release"}},
	}
	manifest := &v1beta2.Manifest{Status: v1beta2.ManifestStatus{Signature: signature}}
	for name, e := range map[string]*entry{"by the Manifest": {manifest: manifest}, "by the Kyma": {status: &v1beta2.ModuleStatus{Signature: signature}}} {
		is := e.signed("")
		if is.State != SignatureVerified || is.By != "key sha256:b, CN=release" || is.Digest != "sha256:a" || !is.At.Equal(&at) || len(is.Signers) != 2 {
			t.Errorf("%s: %+v", name, is)
		}
	}
	if is := (&entry{manifest: manifest}).signed(v1beta2.ReasonSignatureUntrusted); is.State != SignatureUntrusted || is.By != "" {
		t.Errorf("a version that is refused while a signed one runs: %+v", is)
	}
	signature.Reason = v1beta2.ReasonContentNotCovered
	manifest.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionSigned, Message: "values"}}
	if is := (&entry{manifest: manifest}).signed(""); is.State != SignatureIncomplete || is.Message != "values" {
		t.Errorf("%+v", is)
	}
}
