package modulestatus

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// signatureStates are the reasons of the API in the words of Signed.
var signatureStates = map[string]string{
	v1beta2.ReasonVerified:           SignatureVerified,
	v1beta2.ReasonSignatureMissing:   SignatureMissing,
	v1beta2.ReasonSignatureInvalid:   SignatureInvalid,
	v1beta2.ReasonSignatureUntrusted: SignatureUntrusted,
	v1beta2.ReasonSignatureRevoked:   SignatureRevoked,
	v1beta2.ReasonContentNotCovered:  SignatureIncomplete,
}

// signed returns what the manager found out about the signatures of a module. A version that is refused for its signature counts before
// what runs: its state stands alone then, so that no signer of the installed version seems to have signed it.
func (e *entry) signed(reason string) Signed {
	var status *v1beta2.SignatureStatus
	switch {
	case e.manifest != nil:
		status = e.manifest.Status.Signature
	case e.status != nil:
		status = e.status.Signature
	}
	refused := signatureState(reason)
	if status == nil || refused != SignatureUnknown && refused != signatureState(status.Reason) {
		return Signed{State: refused}
	}
	found := Signed{State: signatureState(status.Reason), Digest: status.Digest, Signers: status.Signers, By: nameSigners(status.Signers)}
	found.At = &status.VerifiedAt
	if e.manifest != nil && found.State != SignatureVerified {
		if told := conditions.Find(e.manifest.Status.Conditions, v1beta2.ConditionSigned); told != nil {
			found.Message = told.Message
		}
	}
	return found
}

func signatureState(reason string) string {
	if state, known := signatureStates[reason]; known {
		return state
	}
	return SignatureUnknown
}

// VerifiedBy returns what a verification found, for those who verify by themselves.
func VerifiedBy(signers []v1beta2.SignerStatus, digest string, now metav1.Time) Signed {
	return Signed{State: SignatureVerified, Digest: digest, Signers: signers, By: nameSigners(signers), At: &now}
}

// nameSigners names each by its certificate, or by its key.
func nameSigners(signers []v1beta2.SignerStatus) string {
	names := make([]string, 0, len(signers))
	for _, signer := range signers {
		if signer.Subject != "" {
			names = append(names, signer.Subject)
		} else {
			names = append(names, "key "+signer.Key)
		}
	}
	return strings.Join(names, ", ")
}
