package communitycatalog

import (
	"crypto/rsa"
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestSignature_WhatASignatureIdentifies(t *testing.T) {
	digest, other := digestOf(nil), digestOf([]byte("x"))
	for name, c := range map[string]struct {
		identity, asked string
		want            bool
	}{
		"the repository, as cosign writes it":     {"ghcr.io/example/catalog", "ghcr.io/example/catalog:latest", true},
		"nothing, as with old versions of cosign": {"", "ghcr.io/example/catalog:latest", true},
		"another repository":                      {"ghcr.io/example/beta", "ghcr.io/example/catalog:latest", false},
		"a repository below it":                   {"ghcr.io/example/catalog/beta", "ghcr.io/example/catalog:latest", false},
		"another registry":                        {"quay.io/example/catalog", "ghcr.io/example/catalog:latest", false},
		"another port":                            {"ghcr.io:444/example/catalog", "ghcr.io:443/example/catalog:latest", false},
		"its host in capitals":                    {"GHCR.io/example/catalog", "ghcr.io/example/catalog:latest", true},
		"Docker Hub, as cosign calls it":          {"index.docker.io/example/catalog", "docker.io/example/catalog:latest", true},
		"an official image of Docker Hub":         {"index.docker.io/library/catalog", "docker.io/library/catalog:latest", true},
		"its tag":                                 {"ghcr.io/example/catalog:latest", "ghcr.io/example/catalog:latest", true},
		"another tag":                             {"ghcr.io/example/catalog:beta", "ghcr.io/example/catalog:latest", false},
		"a tag, and a digest is requested":        {"ghcr.io/example/catalog:beta", "ghcr.io/example/catalog@" + digest, true},
		"a tag, and both are requested":           {"ghcr.io/example/catalog:beta", "ghcr.io/example/catalog:latest@" + digest, true},
		"its digest":                              {"ghcr.io/example/catalog@" + digest, "ghcr.io/example/catalog:latest", true},
		"another digest":                          {"ghcr.io/example/catalog@" + other, "ghcr.io/example/catalog:latest", false},
		"an invalid reference":                    {"https://ghcr.io/example/catalog", "ghcr.io/example/catalog:latest", false},
		"a space":                                 {" ", "ghcr.io/example/catalog:latest", false},
	} {
		t.Run(name, func(t *testing.T) {
			image, err := content.ParseImage(c.asked)
			if err != nil {
				t.Fatal(err)
			}
			if got := identifies(c.identity, image, digest); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}

// TestSignature_ASignatureSaysWhatItIsOf: a signature that a user without the key copies to another repository does not count there.
func TestSignature_ASignatureSaysWhatItIsOf(t *testing.T) {
	server, host := newRegistry(t)
	limits, key := near(server), testKeys(t)["RSA"]
	private, is := key.private.(*rsa.PrivateKey)
	if !is {
		t.Fatal("no RSA key")
	}
	made := built(t, wholeFolder())
	for _, repository := range []string{"beta", "stable"} {
		address := "oci://" + host + "/" + repository + ":1"
		digest, err := Push(t.Context(), address, made, limits)
		if err != nil {
			t.Fatal(err)
		}
		if repository == "stable" { // the signature beside beta is copied
			cosign(t, host+"/stable", host+"/beta", digest, digest, key, limits)
			_, _, err := Fetch(t.Context(), Source{URL: address, Key: key.public}, limits)
			if err == nil || !strings.Contains(err.Error(), "was made for "+host+"/beta") || !strings.Contains(err.Error(), "--sign-container-identity") {
				t.Errorf("signed for beta, and taken as stable: %v", err)
			}
		}
		if err := PushSignature(t.Context(), address, digest, private, limits); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Fetch(t.Context(), Source{URL: address, Key: key.public}, limits); err != nil {
			t.Errorf("signed for %s: %v", repository, err)
		}
	}
}

// FuzzStatement: the signed text comes from a registry. Nothing in it is mistaken for another repository or digest.
func FuzzStatement(f *testing.F) {
	digest := digestOf(nil)
	for _, identity := range []string{"", "ghcr.io/example/catalog", "ghcr.io/example/catalog:1", "ghcr.io/example/catalog@" + digest, "a@b@c", "[::1]/x", "\x00"} {
		f.Add(fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":%q}}`,
			identity, digest, signedType))
	}
	f.Add([]byte(`{"critical":[]}`))
	image := content.Image{Registry: "ghcr.io", Repository: "example/catalog", Tag: "1"}
	f.Fuzz(func(t *testing.T, text []byte) {
		identity, _ := states(text, digest)
		if identity != "" && identifies(identity, image, digest) && !strings.Contains(identity, "/example/catalog") {
			t.Errorf("%q is taken for %s", identity, image)
		}
	})
}
