// Package signing answers: is this text by the holder of a key? It makes detached signatures that openssl verifies, so that users need no
// program of ours for that. The same key and text give the same signature.
//
// It manages no keys, has no certificates and keeps no transparency log.
package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// Key is a private key that signs.
type Key struct{ signer crypto.Signer }

// ReadKey reads a private key in PEM: Ed25519, ECDSA or RSA, not encrypted.
func ReadKey(text []byte) (Key, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return Key{}, errors.New("the key is encrypted: decrypt it by openssl pkey -in KEY -out PLAIN")
		default: // such as the parameters in front of an ECDSA key
			continue
		}
		if err != nil {
			return Key{}, fmt.Errorf("the key cannot be read: %w", err)
		}
		return signerOf(key)
	}
	return Key{}, errors.New("there is no private key in PEM: openssl genpkey -algorithm ed25519 makes one")
}

func signerOf(key any) (Key, error) {
	switch signer := key.(type) {
	case ed25519.PrivateKey:
		return Key{signer}, nil
	case *ecdsa.PrivateKey:
		return Key{signer}, nil
	case *rsa.PrivateKey:
		return Key{signer}, nil
	}
	return Key{}, fmt.Errorf("a key of type %T cannot sign a release: use Ed25519, ECDSA or RSA", key)
}

// Sign returns the signature of a text: of the text itself by Ed25519, of its SHA-256 by the other keys.
func (k Key) Sign(text []byte) ([]byte, error) {
	message, hash := text, crypto.Hash(0)
	if !k.whole() {
		sum := sha256.Sum256(text)
		message, hash = sum[:], crypto.SHA256
	}
	// Without a source of randomness, signatures by ECDSA are those of RFC 6979, always the same.
	signature, err := k.signer.Sign(nil, message, hash)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return signature, nil
}

// Verification returns the command that verifies the signature of a file with the public key in the file release.pub.
func (k Key) Verification(file, signature string) string {
	if k.whole() {
		return fmt.Sprintf("openssl pkeyutl -verify -pubin -inkey release.pub -rawin -in %s -sigfile %s", file, signature)
	}
	return fmt.Sprintf("openssl dgst -sha256 -verify release.pub -signature %[2]s %[1]s", file, signature)
}

// whole reports whether the key signs a text instead of its hash.
func (k Key) whole() bool {
	_, ok := k.signer.(ed25519.PrivateKey)
	return ok
}
