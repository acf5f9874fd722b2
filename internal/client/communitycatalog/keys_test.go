package communitycatalog

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
)

// testKey signs as cosign and openssl do.
type testKey struct {
	public  string
	private crypto.Signer
}

func (k testKey) sign(t *testing.T, text []byte) []byte {
	t.Helper()
	sum, hash := sha256.Sum256(text), crypto.SHA256
	message := sum[:]
	if _, is := k.private.(ed25519.PrivateKey); is {
		message, hash = text, crypto.Hash(0)
	}
	signature, err := k.private.Sign(rand.Reader, message, hash)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// testKeys returns one key of each kind.
func testKeys(t *testing.T) map[string]testKey {
	t.Helper()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	primes, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]testKey{}
	for kind, private := range map[string]crypto.Signer{"ECDSA": curve, "Ed25519": edwards, "RSA": primes} {
		made[kind] = testKey{publicPEM(t, private.Public()), private}
	}
	return made
}

func publicPEM(t *testing.T, key crypto.PublicKey) string {
	t.Helper()
	text, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: text}))
}

func TestKeys(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	curve := testKeys(t)["ECDSA"]
	private, err := x509.MarshalPKCS8PrivateKey(curve.private)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a public key":    {curve.public, ""},
		"a short key":     {publicPEM(t, &weak.PublicKey), "1024 bits"},
		"a private key":   {string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), "no public key"},
		"two keys":        {curve.public + curve.public, "the one block"},
		"no key":          {"hello", "no public key"},
		"a truncated key": {strings.Replace(curve.public, "M", "", 1), "no public key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := publicKey(c.text)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
