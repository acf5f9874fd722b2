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

// SignatureName is the name that signatures of modules have when nothing else is agreed.
const SignatureName = "kyma-module-signature"

// The algorithms and media types that signatures can have. OCM defines those of RSA; its own tools do not know the other two.
const (
	AlgorithmPKCS1v15 = "RSASSA-PKCS1-V1_5"
	AlgorithmPSS      = "RSASSA-PSS"
	// AlgorithmECDSA signs the hash, with a value in ASN.1 (RFC 3279); AlgorithmEd25519 signs the hash as its message (RFC 8032).
	AlgorithmECDSA   = "ECDSA"
	AlgorithmEd25519 = "Ed25519"

	// MediaTypeSignatureRSA and the three below are signatures in hex; MediaTypeSignaturePEM is one in PEM, with certificates.
	MediaTypeSignatureRSA     = "application/vnd.ocm.signature.rsa"
	MediaTypeSignaturePSS     = "application/vnd.ocm.signature.rsa.pss"
	MediaTypeSignatureECDSA   = "application/vnd.ocm.signature.ecdsa"
	MediaTypeSignatureEd25519 = "application/vnd.ocm.signature.ed25519"
	MediaTypeSignaturePEM     = "application/x-pem-file"

	// PEMSignature is the type of the block with the signature, PEMAlgorithm the name of its header.
	PEMSignature = "SIGNATURE"
	PEMAlgorithm = "Signature Algorithm"
)

// maxSignatures and maxCertificates bound what a descriptor can have checked.
const (
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
	// PublicKeys are those of signers: *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey.
	PublicKeys []crypto.PublicKey
	// Certificates are those of signers themselves, and of authorities that vouch for signers.
	Certificates []*x509.Certificate
	// Subjects bind signers with a certificate: its subject (RFC 2253), or one of its DNS names, email addresses or URIs is one of these.
	// Empty accepts every subject that an authority vouches for.
	Subjects []string
	// Revoked are keys that count no more, by their KeyID. It holds for the key of each certificate in a chain too.
	Revoked []string
	// Signers is how many different keys have to have signed; 0 and 1 mean one.
	Signers int
}

// Signer is who made a signature that holds.
type Signer struct {
	// Name of the signature, and the algorithm that made it.
	Name, Algorithm string
	// Key is its KeyID.
	Key string
	// Subject and Issuer are those of the certificate; empty where a public key is trusted as it is.
	Subject, Issuer string
	// Until is when the certificates expire; zero means never.
	Until time.Time
}

// Verification is what the signatures of a component version are worth.
type Verification struct {
	// Signers are different ones, as many as were asked for or more, in the order of their signatures.
	Signers []Signer
	// Until is when it ends to hold; zero means never.
	Until time.Time
	// Digest is that of the descriptor's signed part: "sha256:..." or "sha512:...".
	Digest string
}

// Verify tells whether signers who are trusted signed this component version as it is now. Several signatures may carry names that count;
// as many different keys as trust asks for are enough. The error is an *Error with a signature reason.
//
// What is signed is who the component is, and for each resource its name, type, labels that are marked for it and digest: not where the
// resource lies (its access). Coverage says what follows from that.
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
		return nil, c.signature(ReasonSignatureMissing, "is signed by %d of the %d different keys that are asked for: have it signed by another "+
			"signer too", len(found.Signers), needed)
	}
}

// add counts a signer once, however many signatures it made.
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

// SignedDigest is the sha256 digest of a resource's content, as a signature covers it: of the blob, or of the manifest where the resource
// is an OCI artifact. ok is false when the descriptor has none, or excludes the content from signatures, as it does for a resource without
// access: a digest that stands there is anybody's.
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
