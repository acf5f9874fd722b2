package signcoverage

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Signers returns the signers of a verification in the form of a status.
func Signers(verified *descriptor.Verification) []v1beta2.SignerStatus {
	found := make([]v1beta2.SignerStatus, 0, len(verified.Signers))
	for _, signer := range verified.Signers {
		told := v1beta2.SignerStatus{
			Name: signer.Name, Key: signer.Key, Algorithm: signer.Algorithm, Subject: signer.Subject, Issuer: signer.Issuer,
		}
		if !signer.Until.IsZero() {
			until := metav1.NewTime(signer.Until).Rfc3339Copy()
			told.Until = &until
		}
		found = append(found, told)
	}
	return found
}
