package component_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// archived builds an archive with a component of a blob and an image, and signs it there.
func archived(t *testing.T, ending string, signer *component.Signer) (ref component.Ref, from *served) {
	t.Helper()
	from = serve(t)
	version := withImage(t)
	version.Resources[1].Image = from.image(t)
	ref = component.Ref{
		Path: filepath.Join(t.TempDir(), "module"+ending), Name: version.Name, Version: version.Version,
		Access: component.Access{PlainHTTP: true},
	}
	before, err := component.Build(t.Context(), ref.Path, version)
	if err != nil {
		t.Fatal(err)
	}
	if signer == nil {
		return ref, from
	}
	signed, err := component.SignRef(t.Context(), ref, signer)
	if err != nil || signed == before {
		t.Fatalf("signed %s after %s, error %v", signed, before, err)
	}
	return ref, from
}

func TestArchivesAreSignedAndVerified(t *testing.T) {
	for title, test := range map[string]struct {
		ending string
		signer component.Signer
	}{
		"a directory":   {"", component.Signer{Key: keys()[0]}},
		"a tar, by PSS": {".tar", component.Signer{Key: keys()[0], Algorithm: descriptor.AlgorithmPSS}},
		"a compressed tar, by SHA-512 for old readers": {".tgz", component.Signer{Key: keys()[0], Hash: 7, Normalisation: descriptor.NormalisationV1}},
	} {
		t.Run(title, func(t *testing.T) {
			ref, from := archived(t, test.ending, &test.signer)
			before, _ := os.ReadFile(ref.Path) // a directory gives nothing
			first, err := component.Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = first.Close() }()
			again, err := component.SignRef(t.Context(), ref, &test.signer)
			after, _ := os.ReadFile(ref.Path)
			if err != nil || again != first.Component.Digest || !bytes.Equal(before, after) {
				t.Errorf("signed again it is %s instead of %s, error %v", again, first.Component.Digest, err)
			}
			report, err := component.VerifyRef(t.Context(), ref, trusting(keys()[0]), component.VerifyOptions{SignedLabels: []string{rendererLabel}})
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range report.Checks {
				if check.State != component.StateVerified {
					t.Errorf("%+v", check)
				}
			}
			// An archive is checked where no one can be asked, but for its images.
			from.Host = ""
			ref.Access = component.Access{PlainHTTP: true, Policy: nil}
			if _, err := component.VerifyRef(t.Context(), ref, trusting(keys()[0]), component.VerifyOptions{Offline: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVerifyArchive_WhatIsTamperedWithInAnArchiveIsNoticed(t *testing.T) {
	blob := func(t *testing.T, ref component.Ref, of digest.Digest) string {
		t.Helper()
		return filepath.Join(ref.Path, "blobs", "sha256."+of.Encoded())
	}
	rewrite := func(t *testing.T, path string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for title, test := range map[string]struct {
		do     func(t *testing.T, ref component.Ref, root digest.Digest)
		reason string
	}{
		"a byte of a blob": {func(t *testing.T, ref component.Ref, _ digest.Digest) {
			rewrite(t, blob(t, ref, digest.FromString(manifest)))
		}, component.BlobChanged},
		"a blob that is longer": {func(t *testing.T, ref component.Ref, _ digest.Digest) {
			if err := os.WriteFile(blob(t, ref, digest.FromString(manifest)), []byte(manifest+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, component.BlobChanged},
		"a blob that is cut off": {func(t *testing.T, ref component.Ref, _ digest.Digest) {
			if err := os.WriteFile(blob(t, ref, digest.FromString(manifest)), []byte(manifest[1:]), 0o600); err != nil {
				t.Fatal(err)
			}
		}, component.BlobChanged},
		"a blob that is gone": {func(t *testing.T, ref component.Ref, _ digest.Digest) {
			if err := os.Remove(blob(t, ref, digest.FromString(manifest))); err != nil {
				t.Fatal(err)
			}
		}, component.BlobMissing},
		"a byte of the manifest": {func(t *testing.T, ref component.Ref, root digest.Digest) {
			rewrite(t, blob(t, ref, root))
		}, component.DescriptorChanged},
	} {
		t.Run(title, func(t *testing.T) {
			ref, _ := archived(t, "", &component.Signer{Key: keys()[0]})
			opened, err := component.Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			root := digest.Digest(opened.Component.Digest)
			if err := opened.Close(); err != nil {
				t.Fatal(err)
			}
			test.do(t, ref, root)
			_, err = component.VerifyRef(t.Context(), ref, trusting(keys()[0]), component.VerifyOptions{Offline: true})
			if reasonOf(err) != test.reason {
				t.Errorf("error %v, want reason %s", err, test.reason)
			}
		})
	}
}

func TestSigningAsksForImagesWithTheirLogin(t *testing.T) {
	var closed atomic.Bool
	guarded := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			if closed.Load() && strings.Contains(r.URL.Path, "/manifests/") && (user != "ada" || password != "secret") {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	version := withImage(t)
	version.Resources[1].Image = guarded.image(t)
	closed.Store(true)
	path := filepath.Join(t.TempDir(), "module")
	if _, err := component.Build(t.Context(), path, version); err != nil {
		t.Fatal(err)
	}
	ref := component.Ref{Path: path, Access: component.Access{PlainHTTP: true}}
	signer := &component.Signer{Key: keys()[0]}
	if _, err := component.SignRef(t.Context(), ref, signer); err == nil || !strings.Contains(err.Error(), "resource operator") {
		t.Fatalf("signed without the digest of an image: %v", err)
	}
	ref.Access.Credentials = func(_ context.Context, host string) (auth.Credential, error) {
		if host != guarded.Host {
			t.Errorf("credentials were asked for %s", host)
		}
		return auth.Credential{Username: "ada", Password: "secret"}, nil
	}
	if _, err := component.SignRef(t.Context(), ref, signer); err != nil {
		t.Fatal(err)
	}
	opened, err := component.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	if got, ok := opened.Component.Resources[1].SignedDigest(); !ok || got != "sha256:"+guarded.digest {
		t.Errorf("the image has digest %s, want %s", got, guarded.digest)
	}
}

func TestSignRefRefuses(t *testing.T) {
	ref, _ := archived(t, "", nil)
	for title, test := range map[string]struct {
		ref     component.Ref
		signer  component.Signer
		message string
	}{
		"a key that no one accepts":    {ref, component.Signer{Key: short(t)}, "2048"},
		"a hash that no one knows":     {ref, component.Signer{Key: keys()[0], Hash: 3}, "does not sign components"},
		"a normalisation to come":      {ref, component.Signer{Key: keys()[0], Normalisation: "jsonNormalisation/v3"}, "jsonNormalisation/v2"},
		"an archive that is not there": {component.Ref{Path: ref.Path + "x"}, component.Signer{Key: keys()[0]}, "no archive"},
		"no place at all":              {component.Ref{}, component.Signer{Key: keys()[0]}, "neither"},
	} {
		t.Run(title, func(t *testing.T) {
			_, err := component.SignRef(t.Context(), test.ref, &test.signer)
			if err == nil || !strings.Contains(err.Error(), test.message) || errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("error %v, want one that says %q", err, test.message)
			}
		})
	}
}
