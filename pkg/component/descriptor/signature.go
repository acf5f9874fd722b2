package descriptor

import (
	"crypto"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// SignatureName is the default name of module signatures.
const SignatureName = "kyma-module-signature"

// The algorithms and media types of signatures. OCM defines those of RSA; its own tools do not support the other two.
const (
	AlgorithmPKCS1v15 = "RSASSA-PKCS1-V1_5"
	AlgorithmPSS      = "RSASSA-PSS"
	// AlgorithmECDSA signs the hash, with a value in ASN.1 (RFC 3279); AlgorithmEd25519 signs the hash as its message (RFC 8032).
	AlgorithmECDSA   = "ECDSA"
	AlgorithmEd25519 = "Ed25519"

	// MediaTypeSignatureRSA and the next three are signatures in hex; MediaTypeSignaturePEM is one in PEM, with certificates.
	MediaTypeSignatureRSA     = "application/vnd.ocm.signature.rsa"
	MediaTypeSignaturePSS     = "application/vnd.ocm.signature.rsa.pss"
	MediaTypeSignatureECDSA   = "application/vnd.ocm.signature.ecdsa"
	MediaTypeSignatureEd25519 = "application/vnd.ocm.signature.ed25519"
	MediaTypeSignaturePEM     = "application/x-pem-file"

	// PEMSignature is the type of the block with the signature, PEMAlgorithm the name of its header.
	PEMSignature = "SIGNATURE"
	PEMAlgorithm = "Signature Algorithm"
)

// maxSignatures and maxCertificates limit the cost of verifying a descriptor.
const (
	maxSignatures   = 16
	maxCertificates = 16
)

// hashes maps OCM's names to algorithms, including the older names.
var hashes = map[string]crypto.Hash{
	"SHA-256": crypto.SHA256, "sha256": crypto.SHA256, "SHA-512": crypto.SHA512, "sha512": crypto.SHA512,
}

// Signature is one signature of a descriptor, as written there.
type Signature struct {
	Name string `json:"name"`
	// Digest is the digest of the normalised descriptor.
	Digest DigestSpec `json:"digest"`
	// Signature is the signature of the digest.
	Signature struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"value"`
		MediaType string `json:"mediaType"`
	} `json:"signature"`
}

// Trust configures which signatures are accepted.
type Trust struct {
	// Names are the accepted names of signatures.
	Names []string
	// PublicKeys are the keys of signers: *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey.
	PublicKeys []crypto.PublicKey
	// Certificates are those of signers, and of authorities that issue certificates to signers.
	Certificates []*x509.Certificate
	// Subjects restrict signers with a certificate: its subject (RFC 2253), or one of its DNS names, email addresses or URIs must be listed.
	// Empty accepts every subject with a trusted certificate.
	Subjects []string
	// Revoked are the KeyIDs of revoked keys. They apply to the key of each certificate in a chain too.
	Revoked []string
	// Signers is how many different keys must have signed; 0 and 1 mean one.
	Signers int
}

// Signer is the signer of a valid signature.
type Signer struct {
	// Name is the name of the signature, and Algorithm its algorithm.
	Name, Algorithm string
	// Key is the KeyID of the signer's key.
	Key string
	// Subject and Issuer are those of the certificate; empty for a trusted public key.
	Subject, Issuer string
	// Until is when the first of the certificates expires; zero means never.
	Until time.Time
}

// Verification is the result of verifying the signatures of a component version.
type Verification struct {
	// Signers are distinct, at least as many as required, in the order of their signatures.
	Signers []Signer
	// Until is when the result becomes invalid; zero means never.
	Until time.Time
	// Digest is the digest of the descriptor's signed part: "sha256:..." or "sha512:...".
	Digest string
}

// Verify verifies that trusted signers signed this component version as it is now. Several signatures may have accepted names; as many
// different keys as trust requires are enough. The error is an *Error with a signature reason.
//
// A signature covers the component's identity, and for each resource its name, type, digest and the labels that are marked for signing, but
// not the resource's location (its access). Coverage returns what follows from that.
func (c *Component) Verify(trust *Trust, now time.Time) (*Verification, error) {
	var first error
	candidates := slices.DeleteFunc(slices.Clone(c.Signatures), func(s Signature) bool { return !slices.Contains(trust.Names, s.Name) })
	if len(candidates) == 0 {
		return nil, c.signature(ReasonSignatureMissing, "has no signature named %s: sign it", strings.Join(trust.Names, " or "))
	}
	if len(candidates) > maxSignatures {
		return nil, c.signature(ReasonSignatureInvalid, "has %d signatures and %d are looked at: remove some", len(candidates), maxSignatures)
	}
	document, err := signedPart(c.Schema, c.document)
	if err != nil {
		return nil, c.signature(ReasonSignatureInvalid, "has a descriptor whose signature cannot be checked: %w", err)
	}
	found := &Verification{}
	for i := range candidates {
		check := check{document: document, signature: &candidates[i], trust: trust, now: now}
		signer, reason, err := check.run()
		if err == nil {
			found.add(signer, check.digest)
		} else if first == nil {
			first = c.signature(reason, "has signature %s: %w", candidates[i].Name, err)
		}
	}
	switch needed := max(trust.Signers, 1); {
	case len(found.Signers) >= needed:
		return found, nil
	case len(found.Signers) == 0:
		return nil, first
	default:
		return nil, c.signature(ReasonSignatureMissing, "is signed by %d of the %d different keys that are asked for: sign it with another "+
			"signer too", len(found.Signers), needed)
	}
}

// add counts each signer once, however many signatures it made.
func (v *Verification) add(signer Signer, digest string) {
	if slices.ContainsFunc(v.Signers, func(known Signer) bool { return known.Key == signer.Key }) {
		return
	}
	v.Signers, v.Digest = append(v.Signers, signer), digest
	if !signer.Until.IsZero() && (v.Until.IsZero() || signer.Until.Before(v.Until)) {
		v.Until = signer.Until
	}
}

func (c *Component) signature(reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf("component %s:%s "+format, append([]any{c.Name, c.Version}, args...)...)}
}

// SignedDigest returns the sha256 digest of a resource's content that a signature covers: of the blob, or of the manifest if the resource
// is an OCI artifact. ok is false if the descriptor has none, or excludes the content from signing, as it does for a resource without
// access, where anyone can add a digest.
func (r *Resource) SignedDigest() (digest string, ok bool) {
	if r.Digest == nil || hashes[r.Digest.HashAlgorithm] != crypto.SHA256 || len(r.Digest.Value) != hex.EncodedLen(crypto.SHA256.Size()) {
		return "", false
	}
	if strings.EqualFold(r.Access.Type, accessNone) {
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
