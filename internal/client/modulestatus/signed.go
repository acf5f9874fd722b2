package modulestatus

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// signatureStates maps the reasons of the API to the states of Signed.
var signatureStates = map[string]string{
	v1beta2.ReasonVerified:           SignatureVerified,
	v1beta2.ReasonSignatureMissing:   SignatureMissing,
	v1beta2.ReasonSignatureInvalid:   SignatureInvalid,
	v1beta2.ReasonSignatureUntrusted: SignatureUntrusted,
	v1beta2.ReasonSignatureRevoked:   SignatureRevoked,
	v1beta2.ReasonContentNotCovered:  SignatureIncomplete,
}

// signed returns the manager's verification of a module's signatures. A version that is refused for its signature takes precedence over the
// installed one: the result then has only the state, so that it does not seem to be signed by the signers of the installed version.
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

// VerifiedBy returns the result of a successful verification, for callers that verify by themselves.
func VerifiedBy(signers []v1beta2.SignerStatus, digest string, now metav1.Time) Signed {
	return Signed{State: SignatureVerified, Digest: digest, Signers: signers, By: nameSigners(signers), At: &now}
}

// nameSigners returns the names of signers: of their certificates, or of their keys.
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
