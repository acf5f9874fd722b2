package component_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// publishedBy publishes a version with a signature of each signer.
func publishedBy(t *testing.T, signers ...*component.Signer) *descriptor.Component {
	t.Helper()
	to, version := serve(t), withImage(t)
	version.Resources[1].Image = to.image(t)
	push(t, to.Registry, version)
	for _, signer := range signers {
		must[string](t)(component.Sign(t.Context(), to.Registry, version.Name, version.Version, signer))
	}
	return must[*descriptor.Component](t)(to.reader().Get(t.Context(), version.Name, version.Version))
}

func TestKeysOnCurvesSign(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256 := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	p521 := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))
	for name, signer := range map[string]*component.Signer{
		"Ed25519": {Key: edwards}, "ECDSA on P-256": {Key: p256}, "ECDSA on P-521, by SHA-512": {Key: p521, Hash: crypto.SHA512},
	} {
		t.Run(name, func(t *testing.T) {
			got := publishedBy(t, signer)
			trust := &descriptor.Trust{Names: []string{descriptor.SignatureName}, PublicKeys: []crypto.PublicKey{signer.Key.Public()}}
			verified, err := got.Verify(trust, today)
			if err != nil || verified.Signers[0].Key != descriptor.KeyID(signer.Key.Public()) {
				t.Errorf("%+v, error %v", verified, err)
			}
			if _, err := got.Verify(trusting(keys()[0]), today); descriptor.ReasonOf(err) != descriptor.ReasonSignatureUntrusted {
				t.Errorf("by another user: error %v", err)
			}
			got.Signatures[0].Signature.Algorithm = descriptor.AlgorithmPSS
			if _, err := got.Verify(trust, today); err == nil {
				t.Error("the value counts for another algorithm than it was made by")
			}
		})
	}
}

func TestSigners_AsManySignersAsAreAskedFor(t *testing.T) {
	first, second := keys()[0], keys()[1]
	got := publishedBy(t, &component.Signer{Name: "build", Key: first}, &component.Signer{Name: "again", Key: first},
		&component.Signer{Name: "release", Key: second})
	for name, c := range map[string]struct {
		trust  *descriptor.Trust
		found  int
		reason string
	}{
		"two of two":                        {&descriptor.Trust{Names: []string{"build", "release"}, Signers: 2}, 2, ""},
		"one key that signed twice is one":  {&descriptor.Trust{Names: []string{"build", "again"}, Signers: 2}, 0, descriptor.ReasonSignatureMissing},
		"one of two, where one is enough":   {&descriptor.Trust{Names: []string{"build", "release"}, Signers: 1, Revoked: []string{descriptor.KeyID(&first.PublicKey)}}, 1, ""},
		"one of two, where two are needed":  {&descriptor.Trust{Names: []string{"build", "release"}, Signers: 2, Revoked: []string{descriptor.KeyID(&first.PublicKey)}}, 0, descriptor.ReasonSignatureMissing},
		"the only one, and it is revoked":   {&descriptor.Trust{Names: []string{"build"}, Revoked: []string{descriptor.KeyID(&first.PublicKey)}}, 0, descriptor.ReasonSignatureRevoked},
		"two keys overlap while one is new": {&descriptor.Trust{Names: []string{"release"}}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.trust.PublicKeys = []crypto.PublicKey{&first.PublicKey, &second.PublicKey}
			verified, err := got.Verify(c.trust, today)
			if descriptor.ReasonOf(err) != c.reason || err == nil && len(verified.Signers) != c.found {
				t.Errorf("%+v, error %v", verified, err)
			}
		})
	}
}

func TestSigners_ACertificateIsBoundToItsSubject(t *testing.T) {
	ours, theirs := keys()[0], keys()[1]
	authority := certify(t, "authority", theirs, nil, theirs, today.AddDate(5, 0, 0))
	leaf := certify(t, "signer", ours, authority, theirs, today.AddDate(1, 0, 0))
	got := publishedBy(t, &component.Signer{Key: ours, Chain: []*x509.Certificate{leaf}})
	for name, c := range map[string]struct {
		subjects, revoked []string
		reason            string
	}{
		"anyone of the authority":                     {},
		"the subject":                                 {subjects: []string{"CN=other", "CN=signer"}},
		"another subject":                             {subjects: []string{"CN=other"}, reason: descriptor.ReasonSignatureUntrusted},
		"a part of the subject":                       {subjects: []string{"signer"}, reason: descriptor.ReasonSignatureUntrusted},
		"a key that is revoked":                       {revoked: []string{descriptor.KeyID(&ours.PublicKey)}, reason: descriptor.ReasonSignatureRevoked},
		"an authority whose key is revoked":           {revoked: []string{descriptor.KeyID(&theirs.PublicKey)}, reason: descriptor.ReasonSignatureRevoked},
		"a key that is revoked and never signed this": {revoked: []string{descriptor.KeyID(&keys()[2].PublicKey)}},
	} {
		t.Run(name, func(t *testing.T) {
			trust := &descriptor.Trust{
				Names: []string{descriptor.SignatureName}, Certificates: []*x509.Certificate{authority}, Subjects: c.subjects, Revoked: c.revoked,
			}
			verified, err := got.Verify(trust, today)
			if descriptor.ReasonOf(err) != c.reason {
				t.Fatalf("error %v", err)
			}
			if err == nil && (verified.Signers[0].Subject != "CN=signer" || verified.Signers[0].Issuer != "CN=authority") {
				t.Errorf("%+v", verified.Signers[0])
			}
		})
	}
}
