package component_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const lamp = "example.org/module/lamp"

// referring publishes a component that refers to another one, with the digest that the other has now, and signs it.
func referring(t *testing.T, digestOf func(text []byte) map[string]any) (s *tampered, other *tampered) {
	t.Helper()
	s = tamper(t, nil)
	version := s.version
	version.Name, version.Signer = lamp, &component.Signer{Key: keys()[1]} // whose signature counts for nothing here
	push(t, s.Registry, version)
	other = &tampered{served: s.served, version: version, image: s.image}
	opened, err := component.Open(t.Context(), other.ref())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	reference := map[string]any{"name": "lamp", "componentName": lamp, "version": version.Version}
	if digest := digestOf(opened.Text); digest != nil {
		reference["digest"] = digest
	}
	s.edit(t, func(t *testing.T, text []byte) []byte {
		return editYAML(t, text, func(_, about map[string]any) { about["componentReferences"] = []any{reference} })
	})
	if _, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[0]}); err != nil {
		t.Fatal(err)
	}
	return s, other
}

func normalised(t *testing.T) func([]byte) map[string]any {
	return func(text []byte) map[string]any {
		t.Helper()
		made, err := descriptor.Normalise(text, descriptor.NormalisationV2)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(made)
		return map[string]any{
			"hashAlgorithm": "SHA-256", "normalisationAlgorithm": descriptor.NormalisationV2, "value": hex.EncodeToString(sum[:]),
		}
	}
}

func TestComponentsThatAreReferredToAreVerified(t *testing.T) {
	evil := func(t *testing.T, other *tampered) {
		made := other.store(t.Context(), t, other.repository(t), "application/yaml", []byte("kind: Evil\n"))
		other.resource(t, "raw-manifest", func(r map[string]any) {
			access(r)["localReference"] = made.Digest.String()
			r["digest"].(map[string]any)["value"] = made.Digest.Encoded()
		})
	}
	for title, test := range map[string]struct {
		digest  func(t *testing.T) func([]byte) map[string]any
		tamper  func(t *testing.T, other *tampered)
		reason  string
		subject string
	}{
		"nothing": {normalised, func(*testing.T, *tampered) {}, "", ""},
		"its content, with a descriptor that fits": {normalised, evil, component.ComponentChanged, "lamp"},
		"the access of its content": {normalised, func(t *testing.T, other *tampered) {
			other.resource(t, "raw-manifest", kind("NONE"))
		}, component.ContentNotComparable, "lamp/raw-manifest"},
		"it is gone": {normalised, func(_ *testing.T, other *tampered) {
			other.whenever("/"+lamp+"/manifests/", gone)
		}, component.ComponentMissing, "lamp"},
		"its registry is down": {normalised, func(_ *testing.T, other *tampered) {
			other.whenever("/"+lamp+"/manifests/", broken)
		}, component.ComponentUnreadable, "lamp"},
		"a reference without a digest": {
			func(*testing.T) func([]byte) map[string]any { return func([]byte) map[string]any { return nil } },
			func(*testing.T, *tampered) {}, component.ResourceNotCovered, "lamp",
		},
		"a digest by a normalisation that is not known": {func(t *testing.T) func([]byte) map[string]any {
			return func(text []byte) map[string]any {
				made := normalised(t)(text)
				made["normalisationAlgorithm"] = "jsonNormalisation/v9"
				return made
			}
		}, func(*testing.T, *tampered) {}, component.ContentNotComparable, "lamp"},
	} {
		t.Run(title, func(t *testing.T) {
			s, other := referring(t, test.digest(t))
			test.tamper(t, other)
			if handle := other.answer.Load(); handle != nil {
				s.answer.Store(handle)
			}
			report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{Offline: true})
			if test.reason == "" {
				if err != nil || stateOf(report, "lamp") != component.StateVerified || stateOf(report, "lamp/raw-manifest") != component.StateVerified {
					t.Errorf("error %v, %+v", err, report.Checks)
				}
				return
			}
			failed := &component.VerifyError{}
			if reasonOf(err) != test.reason || !errors.As(report.Err(), &failed) || failed.Subject != test.subject {
				t.Errorf("error %v, want %s of %s\n%+v", err, test.reason, test.subject, report.Checks)
			}
		})
	}
}
