package descriptor

import (
	"crypto"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// check verifies one signature.
type check struct {
	document  *signedDocument
	signature *Signature
	trust     *Trust
	now       time.Time

	hash crypto.Hash
	sum  []byte
	// digest is the sum in hex.
	digest string
}

// run verifies in this order: the signature's digest is that of the descriptor, otherwise the descriptor was changed; the signature is
// valid for the digest, by a key or certificate that is trusted and not revoked.
func (c *check) run() (signer Signer, reason string, err error) {
	if err := c.sumUp(); err != nil {
		return signer, ReasonSignatureInvalid, err
	}
	value, chain, err := c.value()
	if err != nil {
		return signer, ReasonSignatureInvalid, err
	}
	signer, reason, err = c.findSigner(value, chain)
	signer.Name, signer.Algorithm = c.signature.Name, c.signature.Signature.Algorithm
	return signer, reason, err
}

// sumUp computes the hash to be signed, and compares it with the one in the signature.
func (c *check) sumUp() (err error) {
	hash, known := hashes[c.signature.Digest.HashAlgorithm]
	if !known {
		return fmt.Errorf("its digest is a %q, and only SHA-256 and SHA-512 count", c.signature.Digest.HashAlgorithm)
	}
	normalised, err := c.document.normalise(c.signature.Digest.NormalisationAlgorithm)
	if err != nil {
		return err
	}
	hasher := hash.New()
	hasher.Write(normalised)
	c.hash, c.sum = hash, hasher.Sum(nil)
	text := hex.EncodeToString(c.sum)
	if c.signature.Digest.Value != text {
		return errors.New("it is for other content: the descriptor was changed after it was signed")
	}
	c.digest = strings.ToLower(strings.ReplaceAll(hash.String(), "-", "")) + ":" + text
	algorithms := []string{AlgorithmPKCS1v15, AlgorithmPSS, AlgorithmECDSA, AlgorithmEd25519}
	if algorithm := c.signature.Signature.Algorithm; !slices.Contains(algorithms, algorithm) {
		return fmt.Errorf("it is a %q, and %s can be checked", algorithm, strings.Join(algorithms, ", "))
	}
	return nil
}

// value returns the signature's bytes, and the certificates that come with it: the signer's first.
func (c *check) value() (value []byte, chain []*x509.Certificate, err error) {
	signature := &c.signature.Signature
	switch signature.MediaType {
	case MediaTypeSignatureRSA, MediaTypeSignaturePSS, MediaTypeSignatureECDSA, MediaTypeSignatureEd25519:
		value, err = hex.DecodeString(signature.Value)
		if err != nil {
			return nil, nil, errors.New("its value is not in hex")
		}
		return value, nil, nil
	case MediaTypeSignaturePEM:
		return fromPEM(signature.Value, signature.Algorithm)
	default:
		return nil, nil, fmt.Errorf("it has media type %q, which cannot be read", signature.MediaType)
	}
}

func fromPEM(text, algorithm string) (value []byte, chain []*x509.Certificate, err error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch block.Type {
		case PEMSignature:
			if said := block.Headers[PEMAlgorithm]; value != nil || said != "" && said != algorithm {
				return nil, nil, fmt.Errorf("it says that it is a %q, or has several values", said)
			}
			value = block.Bytes
		case "CERTIFICATE":
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, nil, fmt.Errorf("it has a certificate that cannot be read: %w", err)
			}
			if chain = append(chain, certificate); len(chain) > maxCertificates {
				return nil, nil, fmt.Errorf("it has more than %d certificates", maxCertificates)
			}
		}
	}
	if len(value) == 0 {
		return nil, nil, errors.New("it has no value")
	}
	return value, chain, nil
}

// findSigner returns the signer, which is one of:
//
//  1. A trusted public key.
//  2. The certificate in the signature, if it is trusted or was issued by a trusted one, and is valid now.
//  3. A trusted certificate that is valid now.
func (c *check) findSigner(value []byte, chain []*x509.Certificate) (signer Signer, reason string, err error) {
	for _, key := range c.trust.PublicKeys {
		if c.made(key, value) {
			return c.unlessRevoked(Signer{Key: KeyID(key)})
		}
	}
	if len(chain) > 0 {
		if !c.made(chain[0].PublicKey, value) {
			return signer, ReasonSignatureInvalid, fmt.Errorf("the certificate of %q that came with it did not make it", chain[0].Subject)
		}
		return c.byCertificate(chain[0], chain[1:])
	}
	for _, certificate := range c.trust.Certificates {
		if c.made(certificate.PublicKey, value) {
			return c.byCertificate(certificate, nil)
		}
	}
	return signer, ReasonSignatureUntrusted, errors.New("no key or certificate that is trusted made it")
}

func (c *check) made(key crypto.PublicKey, value []byte) bool {
	return CheckKey(key) == nil && VerifyValue(key, c.signature.Signature.Algorithm, c.hash, c.sum, value)
}

func (c *check) unlessRevoked(signer Signer) (Signer, string, error) {
	if slices.Contains(c.trust.Revoked, signer.Key) {
		return Signer{}, ReasonSignatureRevoked, fmt.Errorf("the key %s that made it was revoked: sign with another key, and publish a new "+
			"version if the old one may come from another party", signer.Key)
	}
	return signer, "", nil
}

func (c *check) byCertificate(certificate *x509.Certificate, others []*x509.Certificate) (signer Signer, reason string, err error) {
	if !c.bound(certificate) {
		return signer, ReasonSignatureUntrusted, fmt.Errorf("the certificate of %q is for none of the subjects that may sign this component: %s",
			certificate.Subject, strings.Join(c.trust.Subjects, "; "))
	}
	signer = Signer{
		Key: KeyID(certificate.PublicKey), Subject: certificate.Subject.String(), Issuer: certificate.Issuer.String(),
	}
	if _, reason, err := c.unlessRevoked(signer); err != nil {
		return Signer{}, reason, err
	}
	if signer.Until, reason, err = c.validUntil(certificate, others); err != nil {
		return Signer{}, reason, err
	}
	return signer, "", nil
}

// bound reports whether the subject of a certificate may sign.
func (c *check) bound(certificate *x509.Certificate) bool {
	if len(c.trust.Subjects) == 0 {
		return true
	}
	names := append([]string{certificate.Subject.String()}, certificate.DNSNames...)
	names = append(names, certificate.EmailAddresses...)
	for _, uri := range certificate.URIs {
		names = append(names, uri.String())
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.trust.Subjects, name) })
}

// validUntil returns until when a certificate is valid for signatures, by the trusted certificates and a chain without a revoked key.
func (c *check) validUntil(certificate *x509.Certificate, others []*x509.Certificate) (until time.Time, reason string, err error) {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, trusted := range c.trust.Certificates {
		roots.AddCert(trusted)
	}
	for _, other := range others {
		between.AddCert(other)
	}
	chains, err := certificate.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: c.now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	})
	if err != nil {
		return until, ReasonSignatureUntrusted, fmt.Errorf("the certificate of %q is not trusted: %w", certificate.Subject, err)
	}
	if certificate.KeyUsage&x509.KeyUsageDigitalSignature == 0 && !slices.Contains(certificate.ExtKeyUsage, x509.ExtKeyUsageCodeSigning) {
		return until, ReasonSignatureUntrusted, fmt.Errorf("the certificate of %q is not for signatures", certificate.Subject)
	}
	for _, chain := range chains {
		if ends, ok := c.holdsUntil(chain); ok && ends.After(until) {
			until = ends
		}
	}
	if until.IsZero() {
		return until, ReasonSignatureRevoked, fmt.Errorf("an authority of the certificate of %q was revoked: sign with a certificate of another",
			certificate.Subject)
	}
	return until, "", nil
}

// holdsUntil returns when the first certificate of a chain expires; ok is false if the key of one is revoked.
func (c *check) holdsUntil(chain []*x509.Certificate) (ends time.Time, ok bool) {
	ends = chain[0].NotAfter
	for _, link := range chain {
		if slices.Contains(c.trust.Revoked, KeyID(link.PublicKey)) {
			return ends, false
		}
		if link.NotAfter.Before(ends) {
			ends = link.NotAfter
		}
	}
	return ends, true
}
