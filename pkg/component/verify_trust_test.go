package component_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/open-component-model/ocm/pkg/contexts/credentials"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/open-component-model/ocm/pkg/signing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// signedByLibrary signs with the library alone, which takes jsonNormalisation/v1.
func signedByLibrary(t *testing.T, document *compdesc.ComponentDescriptor) {
	t.Helper()
	handlers := signing.DefaultHandlerRegistry()
	signer, hasher := handlers.GetSigner(descriptor.AlgorithmPKCS1v15), handlers.GetHasher("SHA-512")
	if signer == nil || hasher == nil {
		t.Fatal("the library has no such signer")
	}
	err := compdesc.Sign(credentials.New(), document, keys()[0], signer, hasher, descriptor.SignatureName, "CN=kyma-cli")
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadTrust(t *testing.T) {
	key := keys()[0]
	encode := func(kind string, raw []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}) }
	pkix := func(key any) []byte {
		raw, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return encode("PUBLIC KEY", raw)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := encode("CERTIFICATE", certify(t, "me", key, nil, key, today).Raw)
	pkcs1 := encode("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&key.PublicKey))
	for title, test := range map[string]struct {
		texts              [][]byte
		keys, certificates int
		message            string
	}{
		"a public key in PKIX":           {[][]byte{pkix(&key.PublicKey)}, 1, 0, ""},
		"a public key in PKCS #1":        {[][]byte{pkcs1}, 1, 0, ""},
		"a certificate":                  {[][]byte{certificate}, 0, 1, ""},
		"several in one text":            {[][]byte{append(append([]byte{}, pkcs1...), certificate...)}, 1, 1, ""},
		"several texts":                  {[][]byte{pkcs1, certificate, []byte(" \n")}, 1, 1, ""},
		"nothing":                        {nil, 0, 0, "no signer is trusted"},
		"no PEM":                         {[][]byte{[]byte("key")}, 0, 0, "not in PEM"},
		"a private key":                  {[][]byte{encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))}, 0, 0, "private key"},
		"a key on a curve":               {[][]byte{pkix(&other.PublicKey)}, 1, 0, ""},
		"a key that is too short":        {[][]byte{pkix(&short(t).PublicKey)}, 0, 0, "2048"},
		"a certificate that is none":     {[][]byte{encode("CERTIFICATE", []byte("x"))}, 0, 0, "cannot be read"},
		"something else in PEM":          {[][]byte{encode("PUBLIC KEY", []byte("x"))}, 0, 0, "PKIX or PKCS #1"},
		"what follows PEM and is no PEM": {[][]byte{append(append([]byte{}, pkcs1...), "key"...)}, 0, 0, "not in PEM"},
	} {
		t.Run(title, func(t *testing.T) {
			trust, err := component.ReadTrust(nil, test.texts...)
			if test.message != "" {
				if err == nil || !strings.Contains(err.Error(), test.message) {
					t.Errorf("error %v, want %q", err, test.message)
				}
				return
			}
			if err != nil || len(trust.PublicKeys) != test.keys || len(trust.Certificates) != test.certificates || trust.Names[0] != descriptor.SignatureName {
				t.Errorf("trust %+v, error %v", trust, err)
			}
		})
	}
}

// FuzzReadTrust holds what is read to what may count, and to no panic.
func FuzzReadTrust(f *testing.F) {
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&keys()[0].PublicKey)}))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		trust, err := component.ReadTrust(nil, text)
		if err != nil {
			return
		}
		for _, key := range trust.PublicKeys {
			if err := descriptor.CheckKey(key); err != nil {
				t.Errorf("a text that %v is trusted", err)
			}
		}
	})
}

// short returns a key that no one accepts.
func short(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
