package signing

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var text = []byte("abc  install.yaml\n")

// pkcs8 returns a key as openssl genpkey writes it.
func pkcs8(t *testing.T, key any) []byte {
	t.Helper()
	data, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: data})
}

// keys returns a private key of each kind, in PEM.
func keys(t *testing.T) map[string][]byte {
	t.Helper()
	_, ed, edErr := ed25519.GenerateKey(rand.Reader)
	ec, ecErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rs, rsErr := rsa.GenerateKey(rand.Reader, 2048)
	sec1, secErr := x509.MarshalECPrivateKey(ec)
	if err := errors.Join(edErr, ecErr, rsErr, secErr); err != nil {
		t.Fatal(err)
	}
	traditional := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8}})
	return map[string][]byte{
		"Ed25519": pkcs8(t, ed), "ECDSA": pkcs8(t, ec), "RSA": pkcs8(t, rs),
		"ECDSA after its parameters": append(traditional, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})...),
		"RSA as it was written once": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rs)}),
	}
}

func TestSign_IsVerifiedAndAlwaysTheSame(t *testing.T) {
	for name, encoded := range keys(t) {
		t.Run(name, func(t *testing.T) {
			key, err := ReadKey(encoded)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := key.Sign(text)
			if err != nil {
				t.Fatal(err)
			}
			if !verifies(t, key.signer.Public(), text, signature) {
				t.Error("the signature is not by the key")
			}
			if verifies(t, key.signer.Public(), []byte("other"), signature) {
				t.Error("the signature verifies another text, so this test proves nothing")
			}
			if again, err := key.Sign(text); err != nil || !bytes.Equal(signature, again) {
				t.Errorf("a second signature differs (%v)", err)
			}
		})
	}
}

func verifies(t *testing.T, public crypto.PublicKey, text, signature []byte) bool {
	t.Helper()
	sum := sha256.Sum256(text)
	switch key := public.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, text, signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, sum[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	}
	t.Fatalf("a key of type %T", public)
	return false
}

// TestVerification_ByOpenSSL runs the command that users are told. .ci/run installs openssl.
func TestVerification_ByOpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	for name, encoded := range keys(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key, err := ReadKey(encoded)
			if err != nil {
				t.Fatal(err)
			}
			signature, signErr := key.Sign(text)
			der, derErr := x509.MarshalPKIXPublicKey(key.signer.Public())
			public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
			if err := errors.Join(signErr, derErr, os.WriteFile(filepath.Join(dir, "release.pub"), public, 0o600),
				os.WriteFile(filepath.Join(dir, "SHA256SUMS"), text, 0o600),
				os.WriteFile(filepath.Join(dir, "SHA256SUMS.sig"), signature, 0o600)); err != nil {
				t.Fatal(err)
			}
			verify := func() error {
				words := strings.Fields(key.Verification("SHA256SUMS", "SHA256SUMS.sig"))
				command := exec.CommandContext(t.Context(), words[0], words[1:]...)
				command.Dir = dir
				out, err := command.CombinedOutput()
				t.Logf("%s", out)
				return err
			}
			if err := verify(); err != nil {
				t.Errorf("openssl does not accept the signature: %v", err)
			}
			if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
			if verify() == nil {
				t.Error("openssl accepts the signature for another text")
			}
		})
	}
}

func TestReadKey_Refuses(t *testing.T) {
	x25519, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		text []byte
		want string
	}{
		"a file without PEM":           {[]byte("secret"), "openssl genpkey"},
		"a public key":                 {pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{1}}), "there is no private key"},
		"an encrypted key":             {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}}), "is encrypted"},
		"a key that is cut off":        {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{1}}), "cannot be read"},
		"a key that is not to sign by": {pkcs8(t, x25519), "cannot sign a release"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadKey(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
