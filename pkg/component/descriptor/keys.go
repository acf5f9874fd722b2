package descriptor

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
)

const (
	// minKeyBits is the minimum size of an RSA key.
	minKeyBits = 2048
	// minCurveBits is the minimum size of an elliptic curve: that of P-256.
	minCurveBits = 256
)

// ParsePublicKey reads the public key of a signer from one PEM block: RSA of 2048 bits or more (PKIX or PKCS #1), ECDSA on P-256, P-384 or
// P-521, or Ed25519 (PKIX). The error's text begins with "holds", so that the caller can prefix the subject.
func ParsePublicKey(block *pem.Block) (crypto.PublicKey, error) {
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		if key, err = x509.ParsePKCS1PublicKey(block.Bytes); err != nil {
			return nil, fmt.Errorf("holds a %q that is no public key: write it as PKIX or PKCS #1", block.Type)
		}
	}
	return key, CheckKey(key)
}

// CheckKey returns an error if signatures by a public key are not accepted. The error's text begins with "holds".
func CheckKey(key crypto.PublicKey) error {
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minKeyBits {
			return fmt.Errorf("holds an RSA key of %d bits: %d are needed", bits, minKeyBits)
		}
	case *ecdsa.PublicKey:
		if bits := key.Curve.Params().BitSize; bits < minCurveBits {
			return fmt.Errorf("holds an ECDSA key of %d bits: %d are needed", bits, minCurveBits)
		}
	case ed25519.PublicKey:
	default:
		return fmt.Errorf("holds a %T: RSA, ECDSA and Ed25519 sign components", key)
	}
	return nil
}

// KeyID returns the ID of a public key: "sha256:" and the hash of its PKIX form, as `openssl pkey -pubin -outform DER | sha256sum` prints
// it. It is empty for an unsupported key.
func KeyID(key crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// VerifyValue reports whether a key made a signature of a hash, by the algorithm that the signature names.
func VerifyValue(key crypto.PublicKey, algorithm string, hash crypto.Hash, sum, value []byte) bool {
	switch key := key.(type) {
	case *rsa.PublicKey:
		switch algorithm {
		case AlgorithmPKCS1v15:
			return rsa.VerifyPKCS1v15(key, hash, sum, value) == nil
		case AlgorithmPSS:
			return rsa.VerifyPSS(key, hash, sum, value, nil) == nil
		}
	case *ecdsa.PublicKey:
		return algorithm == AlgorithmECDSA && ecdsa.VerifyASN1(key, sum, value)
	case ed25519.PublicKey:
		return algorithm == AlgorithmEd25519 && ed25519.Verify(key, sum, value)
	}
	return false
}
