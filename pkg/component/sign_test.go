package component_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	imagename "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	_ "github.com/open-component-model/ocm/pkg/signing/handlers" // registers them

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// keys are made once: it takes a while.
var keys = sync.OnceValue(func() (made [3]*rsa.PrivateKey) {
	for i := range made {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		made[i] = key
	}
	return made
})

var today = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// certify makes a certificate for a key; issuer nil means by itself.
func certify(t *testing.T, subject string, key *rsa.PrivateKey, issuer *x509.Certificate, by *rsa.PrivateKey, ends time.Time) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: subject}, NotBefore: today.AddDate(-1, 0, 0), NotAfter: ends,
		BasicConstraintsValid: true, IsCA: issuer == nil, KeyUsage: x509.KeyUsageCertSign,
	}
	if issuer != nil {
		template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
	} else {
		issuer = template
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func trusting(all ...*rsa.PrivateKey) *descriptor.Trust {
	trust := &descriptor.Trust{Names: []string{descriptor.SignatureName}}
	for _, key := range all {
		trust.PublicKeys = append(trust.PublicKeys, &key.PublicKey)
	}
	return trust
}

func TestSign_WhatIsSignedIsVerified(t *testing.T) {
	ours, theirs := keys()[0], keys()[1]
	authority := certify(t, "authority", theirs, nil, theirs, today.AddDate(5, 0, 0))
	leaf := certify(t, "signer", ours, authority, theirs, today.AddDate(1, 0, 0))
	trusted := &descriptor.Trust{Names: []string{"mine", "other"}, Certificates: []*x509.Certificate{authority}}
	pinned := &descriptor.Trust{Names: []string{descriptor.SignatureName}, Certificates: []*x509.Certificate{leaf}}
	for title, test := range map[string]struct {
		schema string
		signer component.Signer
		trust  *descriptor.Trust
		until  time.Time
		reason string
		now    time.Time
	}{
		"with a key":                                 {"", component.Signer{Key: ours}, trusting(theirs, ours), time.Time{}, "", today},
		"with a key, in schema v3alpha1":             {descriptor.SchemaV3Alpha1, component.Signer{Key: ours}, trusting(ours), time.Time{}, "", today},
		"with a key and PSS":                         {"", component.Signer{Key: ours, Algorithm: descriptor.AlgorithmPSS}, trusting(ours), time.Time{}, "", today},
		"by another user":                            {"", component.Signer{Key: ours}, trusting(theirs), time.Time{}, descriptor.ReasonSignatureUntrusted, today},
		"under a name that does not count":           {"", component.Signer{Key: ours, Name: "x"}, trusting(ours), time.Time{}, descriptor.ReasonSignatureMissing, today},
		"with a certificate of an authority":         {"", component.Signer{Name: "other", Key: ours, Chain: []*x509.Certificate{leaf}}, trusted, leaf.NotAfter, "", today},
		"with a chain and PSS":                       {"", component.Signer{Name: "mine", Key: ours, Chain: []*x509.Certificate{leaf, authority}, Algorithm: descriptor.AlgorithmPSS}, trusted, leaf.NotAfter, "", today},
		"with a certificate that expired":            {"", component.Signer{Name: "mine", Key: ours, Chain: []*x509.Certificate{leaf}}, trusted, time.Time{}, descriptor.ReasonSignatureUntrusted, today.AddDate(2, 0, 0)},
		"with a certificate, and its key is trusted": {"", component.Signer{Key: ours, Chain: []*x509.Certificate{leaf}}, trusting(ours), time.Time{}, "", today.AddDate(2, 0, 0)},
		"with a certificate of no one":               {"", component.Signer{Key: ours, Chain: []*x509.Certificate{leaf}}, trusting(theirs), time.Time{}, descriptor.ReasonSignatureUntrusted, today},
		"with a certificate that is trusted itself":  {"", component.Signer{Key: ours}, pinned, leaf.NotAfter, "", today},
		"with that, and it expired":                  {"", component.Signer{Key: ours}, pinned, time.Time{}, descriptor.ReasonSignatureUntrusted, today.AddDate(2, 0, 0)},
		"with that, sent along":                      {"", component.Signer{Key: ours, Chain: []*x509.Certificate{leaf}}, pinned, leaf.NotAfter, "", today},
	} {
		t.Run(title, func(t *testing.T) {
			for _, afterwards := range []bool{false, true} {
				to, version := serve(t), withImage(t)
				version.Schema = test.schema
				version.Resources[1].Image = to.image(t)
				if !afterwards {
					version.Signer = &test.signer
				}
				root := push(t, to.Registry, version)
				if afterwards {
					signed, err := component.Sign(t.Context(), to.Registry, version.Name, version.Version, &test.signer)
					if err != nil || signed == root {
						t.Fatalf("signed %s after %s, error %v", signed, root, err)
					}
				}
				got, err := to.reader().Get(t.Context(), version.Name, version.Version)
				if err != nil {
					t.Fatal(err)
				}
				verified, err := got.Verify(test.trust, test.now)
				var until time.Time
				if verified != nil {
					until = verified.Until
				}
				if descriptor.ReasonOf(err) != test.reason || !until.Equal(test.until) {
					t.Errorf("afterwards %v: valid until %s, error %v, want reason %q", afterwards, until, err, test.reason)
				}
				for i, want := range []string{sha(manifest), to.digest} {
					if digest, ok := got.Resources[i].SignedDigest(); !ok || digest != "sha256:"+want {
						t.Errorf("the digest of %s is %s, want %s", got.Resources[i].Name, digest, want)
					}
				}
			}
		})
	}
}

func TestSigningAgainReplacesTheSignature(t *testing.T) {
	to, version := serve(t), harbour("1.0.0")
	version.Signer = &component.Signer{Key: keys()[0]}
	root := push(t, to.Registry, version)
	if again := push(t, to.Registry, version); again != root {
		t.Errorf("the same, pushed again, is %s instead of %s", again, root)
	}
	for _, signer := range []*component.Signer{{Key: keys()[1]}, {Key: keys()[0], Name: "other"}} {
		if _, err := component.Sign(t.Context(), to.Registry, version.Name, version.Version, signer); err != nil {
			t.Fatal(err)
		}
	}
	got, err := to.reader().Get(t.Context(), version.Name, version.Version)
	if err != nil || len(got.Signatures) != 2 {
		t.Fatalf("%d signatures, error %v", len(got.Signatures), err)
	}
	if _, err := got.Verify(trusting(keys()[1]), today); err != nil {
		t.Error(err)
	}
	if _, err := got.Verify(trusting(keys()[0]), today); descriptor.ReasonOf(err) != descriptor.ReasonSignatureUntrusted {
		t.Error(err)
	}
	version.Signer = nil
	plain := version
	plain.Version = "1.0.1"
	push(t, to.Registry, plain)
	plain.Signer = &component.Signer{Key: keys()[0]}
	push(t, to.Registry, plain) // which is there, without the signature
	if got, err = to.reader().Get(t.Context(), version.Name, "1.0.1"); err != nil || len(got.Signatures) != 1 {
		t.Errorf("%d signatures, error %v", len(got.Signatures), err)
	}
}

func TestSign_WhatCannotBeSignedIsToldBefore(t *testing.T) {
	to, version := serve(t), harbour("1.0.0")
	push(t, to.Registry, version)
	foreign := certify(t, "other", keys()[1], nil, keys()[1], today.AddDate(1, 0, 0))
	for title, test := range map[string]struct {
		version string
		signer  component.Signer
		message string
	}{
		"no key":                      {"1.0.0", component.Signer{}, "no private key"},
		"another algorithm":           {"1.0.0", component.Signer{Key: keys()[0], Algorithm: "x"}, `"x" is unknown`},
		"a certificate of a user":     {"1.0.0", component.Signer{Key: keys()[0], Chain: []*x509.Certificate{foreign}}, "not that of the private key"},
		"a version that is not there": {"2.0.0", component.Signer{Key: keys()[0]}, "has no component"},
	} {
		t.Run(title, func(t *testing.T) {
			to.writes.Store(0)
			_, err := component.Sign(t.Context(), to.Registry, version.Name, test.version, &test.signer)
			if err == nil || !strings.Contains(err.Error(), test.message) || to.writes.Load() != 0 {
				t.Errorf("error %v after %d writes", err, to.writes.Load())
			}
		})
	}
}

func TestReadSigner(t *testing.T) {
	key := keys()[0]
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, raw []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}) }
	certificate := encode("CERTIFICATE", certify(t, "me", key, nil, key, today).Raw)
	for title, test := range map[string]struct {
		key, chain []byte
		message    string
	}{
		"PKCS #8":                {encode("PRIVATE KEY", pkcs8), nil, ""},
		"PKCS #1 with a chain":   {encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), certificate, ""},
		"no PEM":                 {[]byte("key"), nil, "not in PEM"},
		"PEM of something else":  {encode("PRIVATE KEY", []byte("x")), nil, "cannot be read"},
		"a chain that is no PEM": {encode("PRIVATE KEY", pkcs8), []byte("chain"), "not in PEM"},
	} {
		t.Run(title, func(t *testing.T) {
			signer, err := component.ReadSigner(test.key, test.chain)
			if test.message == "" && (err != nil || !key.Equal(signer.Key)) || test.message != "" && (err == nil || !strings.Contains(err.Error(), test.message)) {
				t.Errorf("error %v, want %q", err, test.message)
			}
		})
	}
}

// signedBy returns a golden descriptor with a signature that holds.
func signedBy(t *testing.T, data []byte, algorithm string, key *rsa.PrivateKey) []byte {
	t.Helper()
	document, err := compdesc.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	normalised, err := descriptor.Normalise(data, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(normalised)
	value, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	document.Signatures = compdesc.Signatures{{Name: descriptor.SignatureName}}
	document.Signatures[0].Digest = compdesc.DigestSpec{HashAlgorithm: "SHA-256", NormalisationAlgorithm: algorithm, Value: hex.EncodeToString(sum[:])}
	document.Signatures[0].Signature.Algorithm = descriptor.AlgorithmPKCS1v15
	document.Signatures[0].Signature.MediaType = descriptor.MediaTypeSignatureRSA
	document.Signatures[0].Signature.Value = hex.EncodeToString(value)
	written, err := compdesc.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	again, err := descriptor.Normalise(written, algorithm)
	if diff := cmp.Diff(string(normalised), string(again)); err != nil || diff != "" {
		t.Fatalf("written again it is normalised differently: error %v\n%s", err, diff)
	}
	return written
}

func withImage(t *testing.T) component.Version {
	t.Helper()
	version := harbour("1.0.0+build.1")
	version.Resources[0].Labels = map[string]string{"operator.kyma-project.io/renderer": "bundle"}
	version.Resources = append(version.Resources, component.Resource{Name: "operator"})
	return version
}

// image puts an image into the registry.
func (s *served) image(t *testing.T) string {
	t.Helper()
	made, err := random.Image(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := imagename.ParseReference(s.Host+"/images/operator:1.0.0", imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, made); err != nil {
		t.Fatal(err)
	}
	digest, err := made.Digest()
	if err != nil {
		t.Fatal(err)
	}
	s.digest = digest.Hex
	return reference.Name()
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
