package component

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// HeldSignature is a signature that holds.
type HeldSignature struct {
	Name          string `json:"name"`
	Algorithm     string `json:"algorithm"`
	Hash          string `json:"hash"`
	Normalisation string `json:"normalisation"`
	// By says who made it: the subject of a certificate, or the fingerprint of a public key.
	By string `json:"by"`
	// Authority is the certificate that is trusted, when By is vouched for by it.
	Authority string `json:"authority,omitempty"`
	// Until is when it ends to hold; nil means never.
	Until *time.Time `json:"until,omitempty"`
}

// ReadTrust reads whose signatures count: RSA public keys (PKIX or PKCS #1) and certificates in PEM, any number of each in each text.
// Names of signatures that count may be left out; it is descriptor.SignatureName then.
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
		return nil, errors.New("nobody is trusted: give a public key or a certificate")
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
			key, err := publicKey(block)
			if err != nil {
				return err
			}
			into.PublicKeys = append(into.PublicKeys, key)
		}
	}
	return nil
}

func publicKey(block *pem.Block) (*rsa.PublicKey, error) {
	read, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		read, err = x509.ParsePKCS1PublicKey(block.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("what is in PEM as %q is no public key: write it as PKIX or PKCS #1", block.Type)
	}
	key, known := read.(*rsa.PublicKey)
	switch {
	case !known:
		return nil, fmt.Errorf("the public key is a %T: only RSA signs components", read)
	case key.N.BitLen() < minKeyBits:
		return nil, fmt.Errorf("the public key has %d bits, and %d are needed", key.N.BitLen(), minKeyBits)
	}
	return key, nil
}

// held finds out which signature holds, and who made it. Somebody did: Verify said so.
func held(opened *Opened, trust *descriptor.Trust, now time.Time) *HeldSignature {
	for i := range opened.Component.Signatures {
		signature := &opened.Component.Signatures[i]
		if slices.Contains(trust.Names, signature.Name) {
			if found := holds(opened.Component, signature, trust, now); found != nil {
				return found
			}
		}
	}
	return &HeldSignature{Name: trust.Names[0]}
}

// holds tells who made one signature; nil when nobody did who is trusted.
func holds(of *descriptor.Component, signature *descriptor.Signature, trust *descriptor.Trust, now time.Time) *HeldSignature {
	one := *of
	one.Signatures = []descriptor.Signature{*signature}
	found := &HeldSignature{
		Name: signature.Name, Algorithm: signature.Signature.Algorithm,
		Hash: signature.Digest.HashAlgorithm, Normalisation: signature.Digest.NormalisationAlgorithm,
	}
	by := descriptor.Trust{Names: []string{signature.Name}}
	for _, key := range trust.PublicKeys {
		by.PublicKeys = []*rsa.PublicKey{key}
		if _, err := one.Verify(&by, now); err == nil {
			found.By = Fingerprint(key)
			return found
		}
	}
	by.PublicKeys = nil
	for _, certificate := range trust.Certificates {
		by.Certificates = []*x509.Certificate{certificate}
		until, err := one.Verify(&by, now)
		if err != nil {
			continue
		}
		found.By, found.Until = certificate.Subject.String(), &until
		if chain := certificates(signature.Signature.Value); len(chain) > 0 && !chain[0].Equal(certificate) {
			found.By, found.Authority = chain[0].Subject.String(), found.By
		}
		return found
	}
	return nil
}

// Fingerprint names a public key as `openssl pkey -pubin -outform DER | sha256sum` does.
func Fingerprint(key *rsa.PublicKey) string {
	text, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "" // there is no RSA key that cannot be written
	}
	sum := sha256.Sum256(text)
	return "key sha256:" + hex.EncodeToString(sum[:])
}

// certificates are those in the value of a signature.
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
