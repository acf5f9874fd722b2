package descriptor

import (
	"strings"
	"testing"
)

// TestReferencesBelongToTheirResources: the reference of an image is not signed, name and version of its resource are.
func TestReferencesBelongToTheirResources(t *testing.T) {
	hex := strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		resource, version, reference string
		want                         bool
	}{
		"the same name and tag":                        {"operator", "1.0.0", "example.com/a/operator:1.0.0", true},
		"a tag with v":                                 {"operator", "1.0.0", "example.com/operator:v1.0.0", true},
		"a tag that is no version":                     {"operator", "0.0.0-latest", "example.com/operator:latest", true},
		"a tag that no prerelease can be":              {"operator", "0.0.0-tag-007", "example.com/operator:007", true},
		"a version that tells the digest too":          {"operator", "1.0.0+sha256.0123456789ab", "example.com/operator:1.0.0", true},
		"a name of which OCM takes not every letter":   {"my-operator", "1.0.0", "example.com/my.operator:1.0.0", true},
		"a name that is distinct by a digest":          {"operator-" + hex[:8], "1.0.0", "example.com/operator:1.0.0", true},
		"without a tag the digest is compared":         {"operator", "1.0.0", "example.com/operator", true},
		"a short name":                                 {"image-x", "1.0.0", "example.com/x:1.0.0", true},
		"another image":                                {"sidecar", "1.0.0", "example.com/operator:1.0.0", false},
		"another tag":                                  {"operator", "1.0.0", "example.com/operator:1.0.1", false},
		"an image whose name goes on":                  {"operator-extra", "1.0.0", "example.com/operator:1.0.0", false},
		"an image of which the resource's is the end":  {"operator", "1.0.0", "example.com/my-operator:1.0.0", false},
		"an image of which the resource's is the path": {"operator", "1.0.0", "example.com/operator/other:1.0.0", false},
		"what is no reference":                         {"operator", "1.0.0", "Example Com", false},
	} {
		image := CoveredImage{Resource: c.resource, Version: c.version}
		if image.Binds(c.reference) != c.want {
			t.Errorf("%s: %s:%s binds %s: want %v", name, c.resource, c.version, c.reference, c.want)
		}
	}
}

func TestCoverage_ADigestWithoutAccessIsAnybodys(t *testing.T) {
	digest := &DigestSpec{HashAlgorithm: "SHA-256", NormalisationAlgorithm: DigestBlob, Value: strings.Repeat("0", 64)}
	for access, signed := range map[string]bool{"none": false, "None": false, "NONE": false, "localBlob": true, "gitHub": true} {
		resource := Resource{Access: Access{Type: access}, Digest: digest}
		if _, ok := resource.SignedDigest(); ok != signed {
			t.Errorf("access %s: signed %v", access, ok)
		}
	}
}

// TestCoverage_WhatOneMayWriteToARegistryCoversNothing changes everything of an image that no signature covers.
func TestCoverage_WhatOneMayWriteToARegistryCoversNothing(t *testing.T) {
	const digest = "0000000000000000000000000000000000000000000000000000000000000000"
	for name, c := range map[string]struct {
		change    func(*Resource)
		refused   bool
		reference string
	}{
		"as it was signed":          {func(*Resource) {}, false, "example.com/operator:1.0.0@sha256:" + digest},
		"an older type of access":   {func(r *Resource) { r.Access.Type = "ociRegistry" }, false, "example.com/operator:1.0.0@sha256:" + digest},
		"a version of the type":     {func(r *Resource) { r.Access.Type = "ociArtifact/v1" }, false, "example.com/operator:1.0.0@sha256:" + digest},
		"another type of access":    {func(r *Resource) { r.Access = Access{Type: "gitHub"} }, false, ""},
		"no reference":              {func(r *Resource) { r.Access.ImageReference = "" }, false, ""},
		"a reference of another":    {func(r *Resource) { r.Access.ImageReference = "example.com/sidecar:1.0.0" }, false, ""},
		"another digest":            {func(r *Resource) { r.Access.ImageReference += "@sha256:" + strings.Repeat("1", 64) }, true, ""},
		"no access, and any digest": {func(r *Resource) { r.Access.Type = "None" }, true, ""},
		"no digest":                 {func(r *Resource) { r.Digest = nil }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			image := Resource{
				Name: "operator", Version: "1.0.0", Type: "ociImage", Relation: "external",
				Access: Access{Type: "ociArtifact", ImageReference: "example.com/operator:1.0.0"},
				Digest: &DigestSpec{HashAlgorithm: "SHA-256", NormalisationAlgorithm: DigestArtifact, Value: digest},
			}
			c.change(&image)
			manifest := Resource{
				Name: ResourceManifest, Version: "1.0.0", Type: "PlainText", Relation: "local",
				Access: Access{Type: "localBlob", LocalReference: "sha256:" + digest},
				Digest: &DigestSpec{HashAlgorithm: "SHA-256", NormalisationAlgorithm: DigestBlob, Value: digest},
			}
			coverage, err := (&Component{Name: "example.com/a", Version: "1.0.0", Resources: []Resource{manifest, image}}).Coverage()
			if c.refused {
				if ReasonOf(err) != ReasonSignatureInvalid {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || len(coverage.Images) != 1 || coverage.Images[0].Digest != "sha256:"+digest || coverage.Images[0].Reference != c.reference {
				t.Errorf("%+v, error %v", coverage, err)
			}
		})
	}
}
