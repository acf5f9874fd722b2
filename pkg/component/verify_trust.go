package component

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// HeldSignature is a valid signature.
type HeldSignature struct {
	Name          string `json:"name"`
	Algorithm     string `json:"algorithm"`
	Hash          string `json:"hash"`
	Normalisation string `json:"normalisation"`
	// By is the signer: the subject of a certificate, or the fingerprint of a public key.
	By string `json:"by"`
	// Authority is the trusted certificate that issued the signer's certificate, if there is one.
	Authority string `json:"authority,omitempty"`
	// Until is when the signature becomes invalid; nil means never.
	Until *time.Time `json:"until,omitempty"`
}

// ReadTrust reads trusted public keys (see descriptor.ParsePublicKey) and certificates in PEM, any number in each text. names are the
// signature names to accept; empty means descriptor.SignatureName.
func ReadTrust(names []string, texts ...[]byte) (*descriptor.Trust, error) {
	trust := &descriptor.Trust{Names: slices.Clone(names)}
	if len(trust.Names) == 0 {
		trust.Names = []string{descriptor.SignatureName}
	}
	for _, text := range texts {
		if err := readTrust(trust, text); err != nil {
			return nil, err
		}
	}
	if len(trust.PublicKeys)+len(trust.Certificates) == 0 {
		return nil, errors.New("no signer is trusted: give a public key or a certificate")
	}
	return trust, nil
}

func readTrust(into *descriptor.Trust, text []byte) error {
	for rest := text; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return errors.New("the public key or certificate is not in PEM")
		}
		switch {
		case strings.Contains(block.Type, "PRIVATE"):
			return errors.New("that is a private key, which verifies nothing and must stay with who signs: give the public one")
		case block.Type == "CERTIFICATE":
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return fmt.Errorf("the certificate cannot be read: %w", err)
			}
			into.Certificates = append(into.Certificates, certificate)
		default:
			key, err := descriptor.ParsePublicKey(block)
			if err != nil {
				return fmt.Errorf("the text with the public key %w", err)
			}
			into.PublicKeys = append(into.PublicKeys, key)
		}
	}
	return nil
}

// held returns the signatures that Verify accepted, with their signers.
func held(verified *descriptor.Verification, of *descriptor.Component, trust *descriptor.Trust) []HeldSignature {
	found := make([]HeldSignature, 0, len(verified.Signers))
	for i := range verified.Signers {
		found = append(found, holding(&verified.Signers[i], of, trust))
	}
	return found
}

// holding describes the signature of a signer.
func holding(signer *descriptor.Signer, of *descriptor.Component, trust *descriptor.Trust) HeldSignature {
	found := HeldSignature{Name: signer.Name, Algorithm: signer.Algorithm, By: "key " + signer.Key}
	for i := range of.Signatures {
		signature := &of.Signatures[i]
		if signature.Name == signer.Name && signature.Signature.Algorithm == signer.Algorithm {
			found.Hash, found.Normalisation = signature.Digest.HashAlgorithm, signature.Digest.NormalisationAlgorithm
		}
	}
	if signer.Subject == "" {
		return found
	}
	until := signer.Until
	found.By, found.Until = signer.Subject, &until
	itself := slices.ContainsFunc(trust.Certificates, func(known *x509.Certificate) bool {
		return descriptor.KeyID(known.PublicKey) == signer.Key
	})
	if !itself {
		found.Authority = signer.Issuer
	}
	return found
}

// Fingerprint returns the name of a public key in messages: "key " and its descriptor.KeyID.
func Fingerprint(key crypto.PublicKey) string { return "key " + descriptor.KeyID(key) }

// certificates returns the certificates in the value of a signature.
func certificates(value string) (found []*x509.Certificate) {
	for rest := []byte(value); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return found
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			found = append(found, certificate)
		}
	}
}
