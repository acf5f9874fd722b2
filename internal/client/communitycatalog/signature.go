package communitycatalog

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"

	"github.com/distribution/reference"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	// SignatureSuffix is what the address of a signature ends in, behind that of the file.
	SignatureSuffix = ".sig"
	// maxSignature is far above every signature.
	maxSignature = 64 << 10
	// minBits is the least that an RSA key must have.
	minBits = 2048
)

// publicKey reads a public key: ECDSA, RSA or Ed25519, in PEM.
func publicKey(text string) (crypto.PublicKey, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, invalid("the key is no public key: give the one block that begins with -----BEGIN PUBLIC KEY-----")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, invalid("the key is no public key that can be read: give one of ECDSA, RSA or Ed25519")
	}
	switch key := key.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return key, nil
	case *rsa.PublicKey:
		if key.N.BitLen() < minBits {
			return nil, invalid("the key has %d bits, and RSA keys need %d at least", key.N.BitLen(), minBits)
		}
		return key, nil
	}
	return nil, invalid("the key is of a kind that is not known here: give one of ECDSA, RSA or Ed25519")
}

// verified reports whether a signature is of that key and that text, as cosign and openssl make them: over the SHA-256 of the text, with
// Ed25519 over the text itself. It may be written in base64.
func verified(key crypto.PublicKey, text, signature []byte) bool {
	if decoded, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(signature))); err == nil {
		signature = decoded
	}
	sum := sha256.Sum256(text)
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, sum[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(key, text, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil ||
			rsa.VerifyPSS(key, crypto.SHA256, sum[:], signature, nil) == nil
	}
	return false
}

// statement is what cosign signs of an artifact.
type statement struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
}

// signedType is how it says what it is.
const signedType = "cosign container image signature"

// signatureTag returns where signatures of the artifact with that digest are.
func signatureTag(digest string) string {
	return strings.Replace(digest, ":", "-", 1) + SignatureSuffix
}

// states reports whether a signed text speaks of the artifact with that digest, and by which reference.
func states(text []byte, digest string) (identity string, is bool) {
	var said statement
	err := json.Unmarshal(text, &said)
	return said.Critical.Identity.Reference, err == nil && said.Critical.Type == signedType && said.Critical.Image.Digest == digest
}

// identifies reports whether the docker-reference of a signature is of the image that was requested. cosign itself leaves that to others:
//
//  1. An empty one says nothing, and was written by old versions of cosign: what else is signed counts.
//  2. cosign writes the repository; index.docker.io is docker.io.
//  3. One with a tag (cosign sign --sign-container-identity, podman) is of that tag, unless a digest was requested.
//  4. One with a digest is of that digest.
func identifies(identity string, image content.Image, digest string) bool {
	if identity == "" {
		return true
	}
	stated, err := reference.ParseNormalizedNamed(identity)
	if err != nil {
		return false
	}
	asked, err := reference.ParseNormalizedNamed(image.Registry + "/" + image.Repository)
	if err != nil || !strings.EqualFold(reference.Domain(stated), reference.Domain(asked)) || reference.Path(stated) != reference.Path(asked) {
		return false
	}
	if tagged, is := stated.(reference.Tagged); is && image.Digest == "" && tagged.Tag() != image.Tag {
		return false
	}
	digested, is := stated.(reference.Digested)
	return !is || digested.Digest().String() == digest
}

func unsigned(format string, args ...any) error {
	return fail(v1beta2.ReasonSignatureInvalid, format, args...)
}

func signatureMissing(format string, args ...any) error {
	return fail(v1beta2.ReasonSignatureMissing, format, args...)
}
