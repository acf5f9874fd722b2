package component_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/opencontainers/go-digest"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const rendererLabel = "operator.kyma-project.io/renderer"

func access(resource map[string]any) map[string]any { return resource["access"].(map[string]any) }

func TestVerify_EachKindOfTamperingHasItsReason(t *testing.T) {
	blob := digest.FromString(manifest).String()
	for title, test := range map[string]struct {
		do      func(t *testing.T, s *tampered)
		options component.VerifyOptions
		reason  string
		subject string
	}{
		"nothing": {func(*testing.T, *tampered) {}, component.VerifyOptions{SignedLabels: []string{rendererLabel}}, "", ""},
		"a byte of a layer, where it lies": {
			func(_ *testing.T, s *tampered) { s.whenever("/blobs/"+blob, flip) }, component.VerifyOptions{}, component.BlobChanged, "raw-manifest",
		},
		"a layer, with the descriptor pointing to the other": {func(t *testing.T, s *tampered) {
			other := s.store(t.Context(), t, s.repository(t), "application/yaml", []byte("kind: Evil\n"))
			s.resource(t, "raw-manifest", func(r map[string]any) { access(r)["localReference"] = other.Digest.String() })
		}, component.VerifyOptions{}, component.BlobChanged, "raw-manifest"},
		"a layer that is longer": {
			func(_ *testing.T, s *tampered) { s.whenever("/blobs/"+blob, longer) }, component.VerifyOptions{}, component.BlobChanged, "raw-manifest",
		},
		"a layer that is gone": {
			func(_ *testing.T, s *tampered) { s.whenever("/blobs/"+blob, gone) }, component.VerifyOptions{}, component.BlobMissing, "raw-manifest",
		},
		"a layer that cannot be had now": {
			func(_ *testing.T, s *tampered) { s.whenever("/blobs/"+blob, broken) }, component.VerifyOptions{}, component.BlobUnreadable, "raw-manifest",
		},
		"a byte of the descriptor": {func(t *testing.T, s *tampered) {
			s.edit(t, func(_ *testing.T, text []byte) []byte {
				return bytes.Replace(text, []byte("provider: example.org"), []byte("provider: example.orG"), 1)
			})
		}, component.VerifyOptions{}, component.SignatureInvalid, descriptor.SignatureName},
		"the name in the descriptor": {func(t *testing.T, s *tampered) {
			s.edit(t, func(_ *testing.T, text []byte) []byte {
				return bytes.ReplaceAll(text, []byte("name: "+name), []byte("name: x"))
			})
		}, component.VerifyOptions{}, component.DescriptorInvalid, ""},
		"the type of a resource": {
			func(t *testing.T, s *tampered) {
				s.resource(t, "default-cr", func(r map[string]any) { r["type"] = "x" })
			},
			component.VerifyOptions{}, component.SignatureInvalid, descriptor.SignatureName,
		},
		"the digest and the layer": {func(t *testing.T, s *tampered) {
			other := s.store(t.Context(), t, s.repository(t), "application/yaml", []byte("kind: Evil\n"))
			s.resource(t, "raw-manifest", func(r map[string]any) {
				access(r)["localReference"] = blob
				r["digest"].(map[string]any)["value"] = other.Digest.Encoded()
			})
		}, component.VerifyOptions{}, component.SignatureInvalid, descriptor.SignatureName},
		"the reference of an image": {func(t *testing.T, s *tampered) {
			other := s.Host + "/images/operator:evil"
			s.another(t, other)
			s.resource(t, "operator", func(r map[string]any) { access(r)["imageReference"] = other })
		}, component.VerifyOptions{}, component.ImageChanged, "operator"},
		"the tag of an image": {
			func(t *testing.T, s *tampered) { s.another(t, s.image) }, component.VerifyOptions{}, component.ImageChanged, "operator",
		},
		"the digest in the reference of an image, offline": {func(t *testing.T, s *tampered) {
			other := s.another(t, s.Host+"/images/operator:evil")
			s.resource(t, "operator", func(r map[string]any) { access(r)["imageReference"] = s.image + "@" + other })
		}, component.VerifyOptions{Offline: true}, component.ImageChanged, "operator"},
		"an image that is gone": {func(_ *testing.T, s *tampered) {
			s.whenever("/v2/images/", gone)
		}, component.VerifyOptions{}, component.ImageMissing, "operator"},
		"an image whose registry is down": {func(_ *testing.T, s *tampered) {
			s.whenever("/v2/images/", broken)
		}, component.VerifyOptions{}, component.ImageUnreadable, "operator"},
		"an image whose registry is down, offline": {func(_ *testing.T, s *tampered) {
			s.whenever("/v2/images/", broken)
		}, component.VerifyOptions{Offline: true}, "", ""},
		"a resource that was dropped": {func(t *testing.T, s *tampered) {
			s.edit(t, func(t *testing.T, text []byte) []byte {
				return editYAML(t, text, func(_, about map[string]any) { about["resources"] = about["resources"].([]any)[:2] })
			})
		}, component.VerifyOptions{}, component.ResourceDropped, descriptor.SignatureName},
		"the key": {func(t *testing.T, s *tampered) {
			if _, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[1]}); err != nil {
				t.Fatal(err)
			}
		}, component.VerifyOptions{}, component.SignatureUntrusted, descriptor.SignatureName},
		"the signature, which was taken away": {func(t *testing.T, s *tampered) {
			s.edit(t, func(t *testing.T, text []byte) []byte {
				return editYAML(t, text, func(document, _ map[string]any) { delete(document, "signatures") })
			})
		}, component.VerifyOptions{}, component.SignatureMissing, descriptor.SignatureName},
		"an image without a digest, as old tools signed it": {func(t *testing.T, s *tampered) {
			s.resource(t, "operator", func(r map[string]any) { delete(r, "digest") })
			s.oldSignature(t)
		}, component.VerifyOptions{}, component.ResourceNotCovered, "operator"},
		"a label that says how it is rendered and is not signed": {func(t *testing.T, s *tampered) {
			s.resource(t, "default-cr", func(r map[string]any) {
				r["labels"] = []any{map[string]any{"name": rendererLabel, "value": "helm"}}
			})
		}, component.VerifyOptions{SignedLabels: []string{rendererLabel}}, component.LabelNotCovered, "default-cr"},
		"a byte of the manifest, where it lies": {
			func(_ *testing.T, s *tampered) { s.whenever("/manifests/"+s.tag(), flip) }, component.VerifyOptions{}, component.DescriptorChanged, "",
		},
	} {
		t.Run(title, func(t *testing.T) {
			s := tamper(t, &component.Signer{Key: keys()[0]})
			test.do(t, s)
			test.options.Now = today
			report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), test.options)
			if test.reason == "" {
				if err != nil || report.Signature == nil || report.Signature.By != component.Fingerprint(&keys()[0].PublicKey) {
					t.Fatalf("error %v, report %+v", err, report)
				}
				return
			}
			failed, ok := errors.AsType[*component.VerifyError](err)
			if !ok || failed.Reason != test.reason || test.subject != "" && failed.Subject != test.subject {
				t.Fatalf("error %v (%+v), want reason %s of %s", err, failed, test.reason, test.subject)
			}
			count := 0
			for _, check := range report.Checks {
				if check.State == component.StateFailed {
					count++
				}
			}
			if count == 0 {
				t.Errorf("the report tells of no failure: %+v", report)
			}
		})
	}
}

// oldSignature signs as Kyma CLI 2.20 did: with the library's own signer, over jsonNormalisation/v1, by RSA and SHA-512.
func (s *tampered) oldSignature(t *testing.T) {
	t.Helper()
	s.edit(t, func(t *testing.T, text []byte) []byte {
		document, err := compdesc.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		document.Signatures = nil
		signedByLibrary(t, document)
		written, err := compdesc.Encode(document)
		if err != nil {
			t.Fatal(err)
		}
		return written
	})
}

func TestSignaturesOfKymaCLI2AreVerified(t *testing.T) {
	s := tamper(t, nil)
	if _, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{}); reasonOf(err) != component.SignatureMissing {
		t.Fatalf("error %v, want %s", err, component.SignatureMissing)
	}
	// Of its own digests, it knew that of the image too when a user had put it there.
	s.resource(t, "operator", func(r map[string]any) {
		r["digest"] = map[string]any{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "ociArtifactDigest/v1", "value": s.digest}
	})
	s.oldSignature(t)
	report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Signature; got.Normalisation != descriptor.NormalisationV1 || got.Hash != "SHA-512" || got.Name != descriptor.SignatureName {
		t.Errorf("it is %+v", got)
	}
	// Signing it again replaces what the old tool wrote.
	if _, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[0]}); err != nil {
		t.Fatal(err)
	}
	report, err = component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{})
	if err != nil || report.Signature.Normalisation != descriptor.NormalisationV2 {
		t.Errorf("error %v, report %+v", err, report.Signature)
	}
}

func TestVerifyTellsWhoSigned(t *testing.T) {
	ours, theirs := keys()[0], keys()[1]
	authority := certify(t, "authority", theirs, nil, theirs, today.AddDate(5, 0, 0))
	leaf := certify(t, "signer", ours, authority, theirs, today.AddDate(1, 0, 0))
	s := tamper(t, &component.Signer{Key: ours, Chain: []*x509.Certificate{leaf}, Algorithm: descriptor.AlgorithmPSS})
	trust := &descriptor.Trust{Certificates: []*x509.Certificate{leaf}} // whose names are those that no one says
	for title, test := range map[string]struct {
		trust         *descriptor.Trust
		by, authority string
		until         time.Time
	}{
		"a certificate that is trusted":   {trust, "CN=signer", "", leaf.NotAfter},
		"an authority that vouches":       {&descriptor.Trust{Certificates: []*x509.Certificate{authority}}, "CN=signer", "CN=authority", leaf.NotAfter},
		"a key that is trusted by itself": {trusting(theirs, ours), component.Fingerprint(&ours.PublicKey), "", time.Time{}},
	} {
		t.Run(title, func(t *testing.T) {
			report, err := component.VerifyRef(t.Context(), s.ref(), test.trust, component.VerifyOptions{Now: today})
			if err != nil {
				t.Fatal(err)
			}
			got := report.Signature
			if got.By != test.by || got.Authority != test.authority || (got.Until == nil) != test.until.IsZero() || got.Until != nil && !got.Until.Equal(test.until) {
				t.Errorf("it is %+v", got)
			}
		})
	}
	if _, err := component.VerifyRef(t.Context(), s.ref(), &descriptor.Trust{}, component.VerifyOptions{}); err == nil || !strings.Contains(err.Error(), "no signer is trusted") {
		t.Error(err)
	}
}

func TestVerify_ACancelledVerificationIsNoVerdict(t *testing.T) {
	s := tamper(t, &component.Signer{Key: keys()[0]})
	ctx, cancel := context.WithCancel(t.Context())
	s.whenever("/v2/images/", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // or a client that gives up may read an empty answer
	})
	_, err := component.VerifyRef(ctx, s.ref(), trusting(keys()[0]), component.VerifyOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one of a cancellation", err)
	}
}

func reasonOf(err error) string {
	if failed, ok := errors.AsType[*component.VerifyError](err); ok {
		return failed.Reason
	}
	return fmt.Sprint(err)
}

func TestVerify_WhatIsNotWhatItSaysIsNotSigned(t *testing.T) {
	s := tamper(t, nil)
	other := s.store(t.Context(), t, s.repository(t), "application/yaml", []byte("kind: Evil\n"))
	s.resource(t, "raw-manifest", func(r map[string]any) { access(r)["localReference"] = other.Digest.String() })
	_, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[0]})
	if err == nil || !strings.Contains(err.Error(), "one of them was changed") {
		t.Errorf("error %v", err)
	}
}
