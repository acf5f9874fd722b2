package component

import (
	"crypto"
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

// minKeyBits is the shortest RSA key whose signatures are accepted by those who verify.
const minKeyBits = 2048

// Signer is who signs.
type Signer struct {
	// Name of the signature; empty means descriptor.SignatureName.
	Name string
	// Key makes the signature.
	Key *rsa.PrivateKey
	// Algorithm is descriptor.AlgorithmPKCS1v15 or descriptor.AlgorithmPSS; empty means the former, which every version of OCM can verify.
	Algorithm string
	// Hash is crypto.SHA256 or crypto.SHA512; 0 means the former.
	Hash crypto.Hash
	// Normalisation is how the bytes that are signed are made. Empty means descriptor.NormalisationV2, the strongest that there is here;
	// descriptor.NormalisationV1 is for those who can read nothing else.
	Normalisation string
	// Chain are certificates that go into the signature: that of the key first, then those of who issued it. May be empty.
	Chain []*x509.Certificate
	// Issuer says for people who signs, where there is no Chain that does.
	Issuer string
}

// ReadSigner reads a private key (PKCS #1 or #8) and a chain of certificates, which may be empty, from PEM.
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

func privateKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
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
		return nil, errors.New("the private key cannot be read: write it as PKCS #8 or PKCS #1, without a password")
	}
	found, known := read.(*rsa.PrivateKey)
	if !known {
		return nil, fmt.Errorf("the private key is a %T: only RSA signs components", read)
	}
	return found, nil
}

func (s *Signer) check() error {
	switch {
	case s.Key == nil:
		return errors.New("there is no private key to sign with")
	case s.Key.N.BitLen() < minKeyBits:
		return fmt.Errorf("the private key has %d bits, and nobody accepts less than %d", s.Key.N.BitLen(), minKeyBits)
	case s.Algorithm != "" && s.Algorithm != descriptor.AlgorithmPKCS1v15 && s.Algorithm != descriptor.AlgorithmPSS:
		return fmt.Errorf("signature algorithm %q is unknown: use %s or %s", s.Algorithm, descriptor.AlgorithmPKCS1v15, descriptor.AlgorithmPSS)
	case s.Hash != 0 && s.Hash != crypto.SHA256 && s.Hash != crypto.SHA512:
		return fmt.Errorf("hash %s does not sign components: use %s or %s", s.Hash, crypto.SHA256, crypto.SHA512)
	case s.Normalisation != "" && s.Normalisation != descriptor.NormalisationV1 && s.Normalisation != descriptor.NormalisationV2:
		return fmt.Errorf("normalisation %q is unknown: use %s or %s", s.Normalisation, descriptor.NormalisationV2, descriptor.NormalisationV1)
	case len(s.Chain) > 0 && !s.Key.PublicKey.Equal(s.Chain[0].PublicKey):
		return fmt.Errorf("the first certificate, of %q, is not that of the private key", s.Chain[0].Subject)
	}
	return nil
}

// sign signs a digest in hex. The library could do it, but what version 0.11 of it writes for PSS no version of it can verify.
func (s *Signer) sign(hash crypto.Hash, sum string) (made metav1.SignatureSpec, err error) {
	hashed, err := hex.DecodeString(sum)
	if err != nil {
		return made, err
	}
	made.Algorithm, made.MediaType, made.Issuer = descriptor.AlgorithmPKCS1v15, descriptor.MediaTypeSignatureRSA, s.Issuer
	var value []byte
	if s.Algorithm == descriptor.AlgorithmPSS {
		made.Algorithm, made.MediaType = descriptor.AlgorithmPSS, descriptor.MediaTypeSignaturePSS
		value, err = rsa.SignPSS(rand.Reader, s.Key, hash, hashed, nil)
	} else {
		value, err = rsa.SignPKCS1v15(rand.Reader, s.Key, hash, hashed)
	}
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

// made tells whether a signature is what this signer would make of the same digest: one by PSS differs every time that it is made.
func (s *Signer) made(known, would metav1.SignatureSpec, hash crypto.Hash, sum string) bool {
	if known.Algorithm != would.Algorithm || known.MediaType != would.MediaType || known.Issuer != would.Issuer {
		return false
	}
	if known.Value == would.Value {
		return true
	}
	hashed, err := hex.DecodeString(sum)
	if err != nil || s.Algorithm != descriptor.AlgorithmPSS {
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
	return err == nil && rsa.VerifyPSS(&s.Key.PublicKey, hash, hashed, value, nil) == nil
}
