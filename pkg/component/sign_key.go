package component

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Signer is a private key with the settings of its signatures.
type Signer struct {
	// Name is the name of the signature; empty means descriptor.SignatureName.
	Name string
	// Key makes the signature: *rsa.PrivateKey, *ecdsa.PrivateKey or ed25519.PrivateKey, or a crypto.Signer for a key kept elsewhere.
	Key crypto.Signer
	// Algorithm is descriptor.AlgorithmPKCS1v15 or descriptor.AlgorithmPSS for an RSA key; empty means the former, which every version of OCM
	// can verify. Other keys have one algorithm each, which OCM's own tools do not know.
	Algorithm string
	// Hash is crypto.SHA256 or crypto.SHA512; 0 means the former.
	Hash crypto.Hash
	// Normalisation is how the signed bytes are made. Empty means descriptor.NormalisationV2, the strongest one available here;
	// descriptor.NormalisationV1 is for verifiers that support nothing else.
	Normalisation string
	// Chain holds certificates to embed in the signature: the key's first, then those of its issuers. May be empty.
	Chain []*x509.Certificate
	// Issuer names the signer for readers, if there is no Chain.
	Issuer string
}

// ReadSigner reads a private key (PKCS #8, PKCS #1 for RSA, SEC 1 for ECDSA) and a certificate chain, which may be empty, from PEM.
func ReadSigner(key, chain []byte) (*Signer, error) {
	found, err := privateKey(key)
	if err != nil {
		return nil, err
	}
	signer := &Signer{Key: found}
	for rest := chain; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("the chain holds a %q that is no certificate: %w", block.Type, err)
		}
		signer.Chain = append(signer.Chain, certificate)
	}
	if strings.TrimSpace(string(chain)) != "" && len(signer.Chain) == 0 {
		return nil, errors.New("the chain of certificates is not in PEM")
	}
	return signer, signer.check()
}

func privateKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	for block != nil && block.Type == "EC PARAMETERS" { // which openssl writes before the key
		_, text, _ = bytes.Cut(text, []byte("-----END EC PARAMETERS-----"))
		block, _ = pem.Decode(text)
	}
	switch {
	case block == nil:
		return nil, errors.New("the private key is not in PEM")
	case strings.Contains(block.Type, "PUBLIC") || block.Type == "CERTIFICATE":
		return nil, fmt.Errorf("the private key is a %q: that is for those who verify", block.Type)
	}
	read, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		read, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	if err != nil {
		read, err = x509.ParseECPrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, errors.New("the private key cannot be read: write it as PKCS #8, PKCS #1 or SEC 1, without a password")
	}
	found, known := read.(crypto.Signer)
	if !known {
		return nil, fmt.Errorf("the private key is a %T: RSA, ECDSA and Ed25519 sign components", read)
	}
	return found, nil
}

func (s *Signer) check() error {
	if s.Key == nil {
		return errors.New("there is no private key to sign with")
	}
	if err := descriptor.CheckKey(s.Key.Public()); err != nil {
		return fmt.Errorf("what is to sign %w", err)
	}
	_, isRSA := s.Key.Public().(*rsa.PublicKey)
	switch {
	case !isRSA && s.Algorithm != "" && s.Algorithm != s.algorithm():
		return fmt.Errorf("signature algorithm %q is not for this key: it signs by %s", s.Algorithm, s.algorithm())
	case isRSA && s.Algorithm != "" && s.Algorithm != descriptor.AlgorithmPKCS1v15 && s.Algorithm != descriptor.AlgorithmPSS:
		return fmt.Errorf("signature algorithm %q is unknown: use %s or %s", s.Algorithm, descriptor.AlgorithmPKCS1v15, descriptor.AlgorithmPSS)
	case s.Hash != 0 && s.Hash != crypto.SHA256 && s.Hash != crypto.SHA512:
		return fmt.Errorf("hash %s does not sign components: use %s or %s", s.Hash, crypto.SHA256, crypto.SHA512)
	case s.Normalisation != "" && s.Normalisation != descriptor.NormalisationV1 && s.Normalisation != descriptor.NormalisationV2:
		return fmt.Errorf("normalisation %q is unknown: use %s or %s", s.Normalisation, descriptor.NormalisationV2, descriptor.NormalisationV1)
	case len(s.Chain) > 0 && descriptor.KeyID(s.Key.Public()) != descriptor.KeyID(s.Chain[0].PublicKey):
		return fmt.Errorf("the first certificate, of %q, is not that of the private key", s.Chain[0].Subject)
	}
	return nil
}

// algorithm returns the key's signature algorithm.
func (s *Signer) algorithm() string {
	switch s.Key.Public().(type) {
	case *ecdsa.PublicKey:
		return descriptor.AlgorithmECDSA
	case ed25519.PublicKey:
		return descriptor.AlgorithmEd25519
	default:
		return cmp.Or(s.Algorithm, descriptor.AlgorithmPKCS1v15)
	}
}

// mediaTypes are those of signatures in hex.
var mediaTypes = map[string]string{
	descriptor.AlgorithmPKCS1v15: descriptor.MediaTypeSignatureRSA, descriptor.AlgorithmPSS: descriptor.MediaTypeSignaturePSS,
	descriptor.AlgorithmECDSA: descriptor.MediaTypeSignatureECDSA, descriptor.AlgorithmEd25519: descriptor.MediaTypeSignatureEd25519,
}

// sign signs a digest in hex. The OCM library could do it for RSA, but no version of it can verify the PSS signatures of its version 0.11.
func (s *Signer) sign(hash crypto.Hash, sum string) (made metav1.SignatureSpec, err error) {
	hashed, err := hex.DecodeString(sum)
	if err != nil {
		return made, err
	}
	made.Algorithm, made.Issuer = s.algorithm(), s.Issuer
	made.MediaType = mediaTypes[made.Algorithm]
	var options crypto.SignerOpts = hash
	switch made.Algorithm {
	case descriptor.AlgorithmPSS:
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto, Hash: hash}
	case descriptor.AlgorithmEd25519:
		options = crypto.Hash(0) // it hashes by itself: what it signs is the digest as a message
	}
	value, err := s.Key.Sign(rand.Reader, hashed, options)
	if err != nil {
		return made, fmt.Errorf("sign the descriptor: %w", err)
	}
	made.Value = hex.EncodeToString(value)
	if len(s.Chain) > 0 {
		header := map[string]string{descriptor.PEMAlgorithm: made.Algorithm}
		text := pem.EncodeToMemory(&pem.Block{Type: descriptor.PEMSignature, Headers: header, Bytes: value})
		for _, certificate := range s.Chain {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})...)
		}
		made.Value, made.MediaType, made.Issuer = string(text), descriptor.MediaTypeSignaturePEM, s.Chain[0].Subject.String()
	}
	return made, nil
}

// made reports whether a signature equals what this signer would make of the same digest, by verifying it: most algorithms are randomized.
func (s *Signer) made(known, would metav1.SignatureSpec, hash crypto.Hash, sum string) bool {
	if known.Algorithm != would.Algorithm || known.MediaType != would.MediaType || known.Issuer != would.Issuer {
		return false
	}
	hashed, err := hex.DecodeString(sum)
	if err != nil {
		return false
	}
	value, err := hex.DecodeString(known.Value)
	if block, chain := pem.Decode([]byte(known.Value)); block != nil {
		_, same := pem.Decode([]byte(would.Value))
		if string(chain) != string(same) {
			return false
		}
		value, err = block.Bytes, nil
	}
	return err == nil && descriptor.VerifyValue(s.Key.Public(), known.Algorithm, hash, hashed, value)
}
