package component

import (
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The states of an InspectedSignature.
const (
	// SignatureUnjudged: the caller gave no Trust.
	SignatureUnjudged = "Unjudged"
	// SignatureHolds: a trusted signer made it, for the descriptor as it is.
	SignatureHolds = "Valid"
	// SignatureFails: it is not valid; the reason is given.
	SignatureFails = "Invalid"
)

// InspectedSignature is a signature and the result of its verification.
type InspectedSignature struct {
	Name          string `json:"name"`
	Algorithm     string `json:"algorithm"`
	Hash          string `json:"hash"`
	Normalisation string `json:"normalisation"`
	MediaType     string `json:"mediaType,omitempty"`
	// Issuer is the signer, as the signature claims.
	Issuer string `json:"issuer,omitempty"`
	// Certificates came with the signature, the signer's first.
	Certificates []InspectedCertificate `json:"certificates,omitempty"`

	// State is Unjudged, Valid or Invalid; Reason and Message say why it is Invalid.
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// By, Authority and Until are as in HeldSignature.
	By        string     `json:"by,omitempty"`
	Authority string     `json:"authority,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
}

// InspectedCertificate is the subject, issuer and validity of a certificate.
type InspectedCertificate struct {
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
}

// inspectSignatures describes every signature on its own.
func inspectSignatures(opened *Opened, trust *descriptor.Trust, now time.Time) (found []InspectedSignature) {
	issuers := writtenIssuers(opened.Text)
	for i := range opened.Component.Signatures {
		signature := &opened.Component.Signatures[i]
		one := InspectedSignature{
			Name: signature.Name, Algorithm: signature.Signature.Algorithm, MediaType: signature.Signature.MediaType,
			Hash: signature.Digest.HashAlgorithm, Normalisation: signature.Digest.NormalisationAlgorithm,
			State: SignatureUnjudged,
		}
		if i < len(issuers) {
			one.Issuer = issuers[i]
		}
		for _, certificate := range certificates(signature.Signature.Value) {
			one.Certificates = append(one.Certificates, InspectedCertificate{
				Subject: certificate.Subject.String(), Issuer: certificate.Issuer.String(),
				NotBefore: certificate.NotBefore.UTC(), NotAfter: certificate.NotAfter.UTC(),
			})
		}
		one.judge(opened.Component, signature, trust, now)
		found = append(found, one)
	}
	return found
}

// judge returns the validity of a signature under a trust. The names of signatures do not matter: each is checked.
func (s *InspectedSignature) judge(of *descriptor.Component, signature *descriptor.Signature, trust *descriptor.Trust, now time.Time) {
	if trust == nil || len(trust.PublicKeys)+len(trust.Certificates) == 0 {
		return
	}
	alone, one := *trust, *of
	alone.Names, one.Signatures = []string{signature.Name}, []descriptor.Signature{*signature}
	alone.Signers = 1
	verified, err := one.Verify(&alone, now)
	if err != nil {
		s.State, s.Reason, s.Message = SignatureFails, descriptor.ReasonOf(err), err.Error()
		return
	}
	s.State = SignatureHolds
	held := holding(&verified.Signers[0], &one, &alone)
	s.By, s.Authority, s.Until = held.By, held.Authority, held.Until
}

// writtenIssuers returns the claimed issuers of a descriptor's signatures, in their order.
func writtenIssuers(text []byte) (issuers []string) {
	var document struct {
		Signatures []struct {
			Signature struct {
				Issuer string `json:"issuer"`
			} `json:"signature"`
		} `json:"signatures"`
	}
	if yaml.Unmarshal(text, &document) != nil {
		return nil
	}
	for _, signature := range document.Signatures {
		issuers = append(issuers, signature.Signature.Issuer)
	}
	return issuers
}
