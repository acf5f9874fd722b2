package component_test

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// to replaces the access of a resource, which no signature covers.
func to(fields map[string]any) func(resource map[string]any) {
	return func(resource map[string]any) { resource["access"] = fields }
}

// kind replaces the type of an access and leaves its other fields.
func kind(accessType string) func(resource map[string]any) {
	return func(resource map[string]any) { access(resource)["type"] = accessType }
}

func TestVerifyAccess_ASignedDigestThatCannotBeComparedIsAFailure(t *testing.T) {
	evil := map[string]any{"type": "ociArtifact", "imageReference": "evil.example/x@sha256:" + sha(manifest)}
	for title, test := range map[string]struct {
		resource string
		change   func(resource map[string]any)
		options  component.VerifyOptions
		reason   string
	}{
		"a blob by an access type that is almost none": {"raw-manifest", kind("NONE"), component.VerifyOptions{}, component.ContentNotComparable},
		"an image by an access type that is almost none": {
			"operator", kind("nOnE"), component.VerifyOptions{}, component.ContentNotComparable,
		},
		"a versioned none":           {"raw-manifest", kind("none/v1"), component.VerifyOptions{}, component.ContentNotComparable},
		"a blob that lies at GitHub": {"raw-manifest", kind("gitHub"), component.VerifyOptions{}, component.ContentNotComparable},
		"a blob at a bucket":         {"raw-manifest", kind("s3"), component.VerifyOptions{}, component.ContentNotComparable},
		"a blob behind a link":       {"default-cr", kind("wget"), component.VerifyOptions{Offline: true}, component.ContentNotComparable},
		"a chart":                    {"raw-manifest", kind("helm/v1"), component.VerifyOptions{}, component.ContentNotComparable},
		"a package":                  {"raw-manifest", kind("npm"), component.VerifyOptions{}, component.ContentNotComparable},
		"an access type that does not exist": {
			"raw-manifest", kind("x"), component.VerifyOptions{}, component.ContentNotComparable,
		},
		"an access type of a later version": {"operator", kind("ociArtifact/v2"), component.VerifyOptions{Offline: true}, component.ContentNotComparable},
		"an image without a reference": {
			"operator", to(map[string]any{"type": "ociArtifact", "imageReference": ""}), component.VerifyOptions{}, component.ContentNotComparable,
		},
		"an image without a reference, offline": {
			"operator", to(map[string]any{"type": "ociRegistry/v1"}), component.VerifyOptions{Offline: true}, component.ContentNotComparable,
		},
		"an image that lies in a blob": {
			"operator", to(map[string]any{"type": "localBlob", "localReference": "sha256:" + sha(manifest)}), component.VerifyOptions{},
			component.ContentNotComparable,
		},
		"a blob that is an image of a registry which says any digest": {"raw-manifest", to(evil), component.VerifyOptions{}, component.ContentNotComparable},
		"the same, offline": {"raw-manifest", to(evil), component.VerifyOptions{Offline: true}, component.ContentNotComparable},
		"a blob without a reference": {
			"raw-manifest", to(map[string]any{"type": "localOciBlob/v1"}), component.VerifyOptions{}, component.BlobChanged,
		},
	} {
		t.Run(title, func(t *testing.T) {
			s := tamper(t, &component.Signer{Key: keys()[0]})
			s.resource(t, test.resource, test.change)
			report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), test.options)
			if reasonOf(err) != test.reason {
				t.Errorf("error %v, want %s\n%+v", err, test.reason, report.Checks)
			}
			if report.Signature == nil {
				t.Errorf("the signature does not hold, so nothing is shown: %+v", report.Checks)
			}
		})
	}
}

// TestVerifyAccess_ADigestThatNoSignatureCovers is about access type none, with which OCM leaves the digest out of what is signed: it can
// be any.
func TestVerifyAccess_ADigestThatNoSignatureCovers(t *testing.T) {
	for _, accessType := range []string{"none", "None"} {
		s := tamper(t, nil)
		s.resource(t, "default-cr", func(r map[string]any) {
			r["type"], r["access"] = "nothing", map[string]any{"type": accessType}
			delete(r, "digest")
		})
		if _, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[0]}); err != nil {
			t.Fatal(err)
		}
		report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{})
		if err != nil || stateOf(report, "default-cr") != component.StateSkipped {
			t.Fatalf("%s: what holds nothing: %v, %+v", accessType, err, report.Checks)
		}
		s.resource(t, "default-cr", func(r map[string]any) {
			r["digest"] = map[string]any{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": descriptor.DigestBlob, "value": sha("evil")}
		})
		report, err = component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{})
		if reasonOf(err) != component.DigestNotSigned || report.Signature == nil {
			t.Errorf("%s: an invented digest: error %v, want %s", accessType, err, component.DigestNotSigned)
		}
		opened, err := component.Open(t.Context(), s.ref())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = opened.Close() })
		seen, err := component.Inspect(opened, trusting(keys()[0]), today)
		if err != nil || seen.Resources[2].Covered {
			t.Errorf("%s: an invented digest is shown as covered: %+v, error %v", accessType, seen.Resources[2], err)
		}
		if _, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[0]}); err == nil || !strings.Contains(err.Error(), "no signature would cover") {
			t.Errorf("%s: signed with a digest that the signature does not cover: %v", accessType, err)
		}
	}
}

// TestVerifyAccess_WhatWasSignedWithoutADigestIsNotHidden is about resources that old tools signed without one: access type none makes no
// difference to what is signed then.
func TestVerifyAccess_WhatWasSignedWithoutADigestIsNotHidden(t *testing.T) {
	for resource, change := range map[string]func(map[string]any){
		"operator":     func(r map[string]any) { delete(r, "digest") },
		"raw-manifest": func(r map[string]any) { delete(r, "digest") },
	} {
		s := tamper(t, nil)
		s.resource(t, "operator", func(r map[string]any) {
			r["digest"] = map[string]any{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "ociArtifactDigest/v1", "value": s.digest}
		})
		s.resource(t, resource, func(r map[string]any) {
			change(r)
			r["access"] = map[string]any{"type": "none"}
		})
		s.oldSignature(t)
		report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{})
		if report.Signature == nil || stateOf(report, resource) != component.StateFailed {
			t.Errorf("%s: error %v, %+v", resource, err, report.Checks)
		}
	}
}

func TestDigestsThatAreMadeInAnotherWay(t *testing.T) {
	for title, test := range map[string]struct {
		digest map[string]any
		reason string
	}{
		"SHA-512": {
			map[string]any{"hashAlgorithm": "SHA-512", "normalisationAlgorithm": descriptor.DigestBlob, "value": strings.Repeat("1", 128)},
			component.ContentNotComparable,
		},
		"a normalisation that is not known": {
			map[string]any{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "helmDigest/v9", "value": sha(manifest)},
			component.ContentNotComparable,
		},
		"excluded from the signature": {
			map[string]any{"hashAlgorithm": "NO-DIGEST", "normalisationAlgorithm": "EXCLUDE-FROM-SIGNATURE", "value": "NO-DIGEST"},
			component.ResourceNotCovered,
		},
		"an empty one": {map[string]any{"hashAlgorithm": "", "normalisationAlgorithm": "", "value": ""}, component.ResourceNotCovered},
	} {
		t.Run(title, func(t *testing.T) {
			s := tamper(t, nil)
			s.resource(t, "default-cr", func(r map[string]any) { r["digest"] = test.digest })
			if _, err := component.SignRef(t.Context(), s.ref(), &component.Signer{Key: keys()[0]}); err != nil {
				t.Fatal(err)
			}
			report, err := component.VerifyRef(t.Context(), s.ref(), trusting(keys()[0]), component.VerifyOptions{})
			if reasonOf(err) != test.reason {
				t.Errorf("error %v, want %s\n%+v", err, test.reason, report.Checks)
			}
		})
	}
}

// TestInspectDoesNotCallCoveredWhatIsNot is inspect's side of it: the digest is signed, and what the access leads to is not.
func TestInspectDoesNotCallCoveredWhatIsNot(t *testing.T) {
	for title, change := range map[string]func(map[string]any){
		"an access type that is not read": kind("gitHub"),
		"another blob": func(r map[string]any) {
			access(r)["localReference"] = "sha256:" + sha("evil")
		},
	} {
		s := tamper(t, &component.Signer{Key: keys()[0]})
		s.resource(t, "raw-manifest", change)
		opened, err := component.Open(t.Context(), s.ref())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = opened.Close() })
		seen, err := component.Inspect(opened, trusting(keys()[0]), today)
		if err != nil || seen.Resources[0].Covered || !seen.Resources[1].Covered {
			t.Errorf("%s: %+v, error %v", title, seen.Resources, err)
		}
	}
}

func TestVerifyAccess_AnImageThatCannotBeFoundIsNotLeftOutOfACopy(t *testing.T) {
	s, into := tamper(t, &component.Signer{Key: keys()[0]}), serve(t)
	s.resource(t, "operator", kind("gitHub"))
	_, err := component.Copy(t.Context(), s.ref(), component.Ref{Registry: &into.Registry}, component.CopyOptions{Images: true})
	if err == nil || !strings.Contains(err.Error(), "resource operator") {
		t.Errorf("copied without its image: %v", err)
	}
}

func stateOf(report component.VerifyReport, name string) string {
	for _, check := range report.Checks {
		if check.Name == name {
			return check.State
		}
	}
	return ""
}
