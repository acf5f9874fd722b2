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
	// SignatureSuffix is appended to the address of a file for its signature.
	SignatureSuffix = ".sig"
	// maxSignature is far above the size of any signature.
	maxSignature = 64 << 10
	// minBits is the minimum length of an RSA key.
	minBits = 2048
)

// publicKey parses a public key: ECDSA, RSA or Ed25519, in PEM.
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

// verified reports whether a signature was made with that key for that text, as cosign and openssl do: for its SHA-256, or with Ed25519 for
// the text itself. It may be encoded in base64.
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

// statement is the text that cosign signs for an artifact.
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

// signedType is the type in a statement.
const signedType = "cosign container image signature"

// signatureTag returns the tag of the signatures of the artifact with that digest.
func signatureTag(digest string) string {
	return strings.Replace(digest, ":", "-", 1) + SignatureSuffix
}

// states reports whether a signed text is for the artifact with that digest, and returns its reference.
func states(text []byte, digest string) (identity string, is bool) {
	var said statement
	err := json.Unmarshal(text, &said)
	return said.Critical.Identity.Reference, err == nil && said.Critical.Type == signedType && said.Critical.Image.Digest == digest
}

// identifies reports whether the docker-reference of a signature matches the requested image. cosign itself does not check that:
//
//  1. An empty one, which old versions of cosign wrote, matches any image: the other signed fields count.
//  2. cosign writes the repository; index.docker.io is docker.io.
//  3. One with a tag (cosign sign --sign-container-identity, podman) matches only that tag, unless a digest was requested.
//  4. One with a digest matches only that digest.
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
