package descriptor

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// SignatureName is the name that signatures of modules have when nothing else is agreed.
const SignatureName = "kyma-module-signature"

// The algorithms and media types that signatures can have.
const (
	AlgorithmPKCS1v15 = "RSASSA-PKCS1-V1_5"
	AlgorithmPSS      = "RSASSA-PSS"

	// MediaTypeSignatureRSA and MediaTypeSignaturePSS are signatures in hex; MediaTypeSignaturePEM is one in PEM, with the certificates
	// of who made it.
	MediaTypeSignatureRSA = "application/vnd.ocm.signature.rsa"
	MediaTypeSignaturePSS = "application/vnd.ocm.signature.rsa.pss"
	MediaTypeSignaturePEM = "application/x-pem-file"

	// PEMSignature is the type of the block with the signature, PEMAlgorithm the name of its header.
	PEMSignature = "SIGNATURE"
	PEMAlgorithm = "Signature Algorithm"
)

const (
	// minKeyBits is the shortest RSA key that counts.
	minKeyBits = 2048
	// maxSignatures and maxCertificates bound what a descriptor can have checked.
	maxSignatures   = 16
	maxCertificates = 16
)

// hashes are the algorithms by OCM's names, the older ones too.
var hashes = map[string]crypto.Hash{
	"SHA-256": crypto.SHA256, "sha256": crypto.SHA256, "SHA-512": crypto.SHA512, "sha512": crypto.SHA512,
}

// Signature is one signature of a descriptor, as it is written there.
type Signature struct {
	Name string `json:"name"`
	// Digest is that of the normalised descriptor.
	Digest DigestSpec `json:"digest"`
	// Signature is that of the digest.
	Signature struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"value"`
		MediaType string `json:"mediaType"`
	} `json:"signature"`
}

// Trust says whose signatures count.
type Trust struct {
	// Names of the signatures that count.
	Names []string
	// PublicKeys are those of signers.
	PublicKeys []*rsa.PublicKey
	// Certificates are those of signers themselves, and of authorities that vouch for signers.
	Certificates []*x509.Certificate
}

// Verify tells whether somebody who is trusted signed this component version as it is now. Several signatures may carry names that count;
// one that holds is enough. until is when it ends to hold, which is when a certificate expires; zero means never. The error is an *Error
// with a signature reason.
//
// What is signed is who the component is, and for each resource its name, type, labels that are marked for it and digest: not where the
// resource lies (its access). Whoever fetches it compares with SignedDigest.
func (c *Component) Verify(trust *Trust, now time.Time) (until time.Time, err error) {
	var first error
	candidates := slices.DeleteFunc(slices.Clone(c.Signatures), func(s Signature) bool { return !slices.Contains(trust.Names, s.Name) })
	if len(candidates) == 0 {
		return until, c.signature(ReasonSignatureMissing, "has no signature named %s: sign it", strings.Join(trust.Names, " or "))
	}
	if len(candidates) > maxSignatures {
		return until, c.signature(ReasonSignatureInvalid, "has %d signatures and %d are looked at: remove some", len(candidates), maxSignatures)
	}
	document, err := signedPart(c.Schema, c.document)
	if err != nil {
		return until, c.signature(ReasonSignatureInvalid, "has a descriptor whose signature cannot be checked: %w", err)
	}
	for i := range candidates {
		check := check{document: document, signature: &candidates[i], trust: trust, now: now}
		until, reason, err := check.run()
		if err == nil {
			return until, nil
		}
		if first == nil {
			first = c.signature(reason, "has signature %s: %w", candidates[i].Name, err)
		}
	}
	return time.Time{}, first
}

func (c *Component) signature(reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf("component %s:%s "+format, append([]any{c.Name, c.Version}, args...)...)}
}

// check is the check of one signature.
type check struct {
	document  *signedDocument
	signature *Signature
	trust     *Trust
	now       time.Time
}

// run checks in this order: the digest is that of the descriptor, else the descriptor was changed; the signature is that of the digest,
// by a key or certificate that is trusted.
func (c *check) run() (until time.Time, reason string, err error) {
	hash, known := hashes[c.signature.Digest.HashAlgorithm]
	if !known {
		err = fmt.Errorf("its digest is a %q, and only SHA-256 and SHA-512 count", c.signature.Digest.HashAlgorithm)
		return until, ReasonSignatureInvalid, err
	}
	normalised, err := c.document.normalise(c.signature.Digest.NormalisationAlgorithm)
	if err != nil {
		return until, ReasonSignatureInvalid, err
	}
	hasher := hash.New()
	hasher.Write(normalised)
	sum := hasher.Sum(nil)
	if c.signature.Digest.Value != hex.EncodeToString(sum) {
		return until, ReasonSignatureInvalid, errors.New("it is for other content: the descriptor was changed after it was signed")
	}
	verify, err := c.verifier(hash, sum)
	if err != nil {
		return until, ReasonSignatureInvalid, err
	}
	return c.byAnybody(verify)
}

// verifier tells whether a key made the signature. The signature's value is read by its media type.
func (c *check) verifier(hash crypto.Hash, sum []byte) (func(*rsa.PublicKey, []byte) error, error) {
	switch c.signature.Signature.Algorithm {
	case AlgorithmPKCS1v15:
		return func(key *rsa.PublicKey, value []byte) error { return rsa.VerifyPKCS1v15(key, hash, sum, value) }, nil
	case AlgorithmPSS:
		return func(key *rsa.PublicKey, value []byte) error { return rsa.VerifyPSS(key, hash, sum, value, nil) }, nil
	default:
		return nil, fmt.Errorf("it is a %q, and only %s and %s can be checked", c.signature.Signature.Algorithm, AlgorithmPKCS1v15, AlgorithmPSS)
	}
}

// value is the signature's bytes, and the certificates that come with it: that of the signer first.
func (c *check) value() (value []byte, chain []*x509.Certificate, err error) {
	signature := &c.signature.Signature
	switch signature.MediaType {
	case MediaTypeSignatureRSA, MediaTypeSignaturePSS:
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

// byAnybody looks for who made the signature:
//
//  1. A public key that is trusted.
//  2. A certificate that came along, if it is or was issued by one that is trusted, and is valid now.
//  3. A certificate that is trusted itself, and valid now.
func (c *check) byAnybody(verify func(*rsa.PublicKey, []byte) error) (until time.Time, reason string, err error) {
	value, chain, err := c.value()
	if err != nil {
		return until, ReasonSignatureInvalid, err
	}
	for _, key := range c.trust.PublicKeys {
		if strong(key) && verify(key, value) == nil {
			return until, "", nil
		}
	}
	if len(chain) > 0 {
		key, ok := chain[0].PublicKey.(*rsa.PublicKey)
		if !ok || !strong(key) || verify(key, value) != nil {
			return until, ReasonSignatureInvalid, fmt.Errorf("the certificate of %q that came with it did not make it", chain[0].Subject)
		}
		if until, err = c.vouched(chain[0], chain[1:]); err != nil {
			return until, ReasonSignatureUntrusted, err
		}
		return until, "", nil
	}
	for _, certificate := range c.trust.Certificates {
		key, ok := certificate.PublicKey.(*rsa.PublicKey)
		if !ok || !strong(key) || verify(key, value) != nil {
			continue
		}
		if until, err = c.vouched(certificate, nil); err != nil {
			return until, ReasonSignatureUntrusted, err
		}
		return until, "", nil
	}
	return until, ReasonSignatureUntrusted, errors.New("no key or certificate that is trusted made it")
}

// strong says whether a key is long enough to count.
func strong(key *rsa.PublicKey) bool { return key.N.BitLen() >= minKeyBits }

// vouched tells until when a certificate is good for signatures, by the certificates that are trusted.
func (c *check) vouched(certificate *x509.Certificate, others []*x509.Certificate) (until time.Time, err error) {
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
		return until, fmt.Errorf("the certificate of %q is not trusted: %w", certificate.Subject, err)
	}
	if certificate.KeyUsage&x509.KeyUsageDigitalSignature == 0 && !slices.Contains(certificate.ExtKeyUsage, x509.ExtKeyUsageCodeSigning) {
		return until, fmt.Errorf("the certificate of %q is not for signatures", certificate.Subject)
	}
	for _, chain := range chains {
		ends := chain[0].NotAfter
		for _, link := range chain {
			if link.NotAfter.Before(ends) {
				ends = link.NotAfter
			}
		}
		if ends.After(until) {
			until = ends
		}
	}
	return until, nil
}

// SignedDigest is the sha256 digest of a resource's content, as a signature covers it: of the blob, or of the manifest where the resource
// is an OCI artifact. ok is false when the descriptor has none, or excludes the content from signatures.
func (r *Resource) SignedDigest() (digest string, ok bool) {
	if r.Digest == nil || hashes[r.Digest.HashAlgorithm] != crypto.SHA256 || len(r.Digest.Value) != hex.EncodedLen(crypto.SHA256.Size()) {
		return "", false
	}
	if r.Digest.NormalisationAlgorithm != DigestBlob && r.Digest.NormalisationAlgorithm != DigestArtifact {
		return "", false
	}
	if _, err := hex.DecodeString(r.Digest.Value); err != nil || strings.ToLower(r.Digest.Value) != r.Digest.Value {
		return "", false
	}
	return "sha256:" + r.Digest.Value, true
}
