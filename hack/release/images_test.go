package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// unpack writes an OCI layout from its archive.
func unpack(t *testing.T, data []byte) string {
	t.Helper()
	dir := t.TempDir()
	for archive := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		content, err := io.ReadAll(archive)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWholeName_IsTheOneThatAKubeletLooksFor(t *testing.T) {
	for images, want := range map[string]string{
		"":                          "docker.io/library/kyma-cli:1.2.3",
		"registry.example.com/kyma": "registry.example.com/kyma/kyma-cli:1.2.3",
		"localhost:5000":            "localhost:5000/kyma-cli:1.2.3",
	} {
		r := &release{options: options{version: "1.2.3", images: images}}
		if got, err := r.wholeName(clientImage); got != want || err != nil {
			t.Errorf("with %q it is %s, %v; want %s", images, got, err, want)
		}
	}
}

func TestBuild_ImagesAreOCILayoutsForTwoArchitectures(t *testing.T) {
	r := prepared(t, checkout(t, time.Now()))
	r.images = "registry.example.com/kyma"
	files := made(t, r)
	for image, program := range map[string]string{"lifecycle-manager": "/manager", "kyma-cli": "/kyma"} {
		t.Run(image, func(t *testing.T) {
			index, err := layout.ImageIndexFromPath(unpack(t, files[image+"_1.2.3_image.tar"]))
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Index(index); err != nil {
				t.Errorf("the layout is damaged: %v", err)
			}
			outer, err := index.IndexManifest()
			if err != nil || len(outer.Manifests) != 1 {
				t.Fatalf("the layout has %d images, %v", len(outer.Manifests), err)
			}
			entry := outer.Manifests[0]
			if entry.MediaType != types.OCIImageIndex || entry.Annotations["org.opencontainers.image.ref.name"] != "1.2.3" ||
				entry.Annotations["io.containerd.image.name"] != "registry.example.com/kyma/"+image+":1.2.3" {
				t.Errorf("the layout names %s as %v", entry.MediaType, entry.Annotations)
			}
			both, err := index.ImageIndex(entry.Digest)
			if err != nil {
				t.Fatal(err)
			}
			inner, err := both.IndexManifest()
			if err != nil {
				t.Fatal(err)
			}
			var platforms []string
			for _, manifest := range inner.Manifests {
				platforms = append(platforms, manifest.Platform.String())
				one, err := both.Image(manifest.Digest)
				if err != nil {
					t.Fatal(err)
				}
				config, err := one.ConfigFile()
				if err != nil {
					t.Fatal(err)
				}
				if manifest.MediaType != types.OCIManifestSchema1 || config.Config.Entrypoint[0] != program ||
					config.Architecture != manifest.Platform.Architecture || !config.Created.Equal(r.source.time) ||
					config.Config.Labels["org.opencontainers.image.revision"] != testCommit {
					t.Errorf("%s as %s has %+v of %s", manifest.Platform, manifest.MediaType, config.Config, config.Created)
				}
			}
			if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
				t.Errorf("the image is for %q", platforms)
			}
		})
	}
	pinned := []byte("image: registry.example.com/kyma/lifecycle-manager@sha256:" + r.indexes[0].Digest)
	if !bytes.Contains(files["install.yaml"], pinned) {
		t.Errorf("install.yaml has no %s", pinned)
	}
}
