package content

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
)

func TestPush_WhatIsPushedIsReadBack(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	registries := Registries{PlainHTTP: func(string) bool { return true }}
	files := []File{{Path: "manifests/a.yaml", Data: []byte("kind: A\n")}, {Path: "manifests/b.yaml", Data: []byte("kind: B\n")}}

	first, err := registries.PushImage(t.Context(), host+"/bundles/sample:1.0.0", files)
	if err != nil {
		t.Fatal(err)
	}
	again, err := registries.PushImage(t.Context(), host+"/bundles/sample:1.0.0", []File{files[1], files[0]})
	if err != nil || again != first {
		t.Errorf("the same files in another order give %s, error %v, and not %s", again, err, first)
	}
	source := &ImageSource{OCI: &OCI{Store: &Store{Dir: t.TempDir()}, Registries: registries}, Image: host + "/bundles/sample:1.0.0"}
	resolved, err := source.Resolve(t.Context())
	if err != nil || resolved.Digest != first {
		t.Fatalf("resolved %+v, error %v, want %s", resolved, err, first)
	}
	tree, err := source.Fetch(t.Context(), resolved)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, tree.Files); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	for _, image := range []string{host + "/a@sha256:" + strings.Repeat("0", 64), "nowhere", host + "/UPPER:1"} {
		if _, err := registries.PushImage(t.Context(), image, files); ReasonOf(err) != ReasonSourceInvalid {
			t.Errorf("%s: error %v", image, err)
		}
	}
	server.Close()
	if _, err := registries.PushImage(t.Context(), host+"/bundles/sample:1.0.0", files); ReasonOf(err) != ReasonRegistryUnreachable {
		t.Errorf("a registry that is gone: %v", err)
	}
}
