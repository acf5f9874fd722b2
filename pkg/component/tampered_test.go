package component_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	imagename "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	imageremote "github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// tampered is a registry whose answers can be changed on the way, with a signed component that has a blob and an image.
type tampered struct {
	*served
	version component.Version
	image   string
	// answer changes answers; nil leaves them.
	answer atomic.Pointer[func(w http.ResponseWriter, r *http.Request, next http.Handler)]
}

func tamper(t *testing.T, signer *component.Signer) *tampered {
	t.Helper()
	made := &tampered{}
	made.served = serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer := made.answer.Load(); answer != nil {
				(*answer)(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	made.version = withImage(t)
	made.image = made.served.image(t)
	made.version.Resources[1].Image = made.image
	made.version.Resources = append(made.version.Resources, component.Resource{Name: "default-cr", Data: []byte("kind: Harbour\n")})
	made.version.Signer = signer
	push(t, made.Registry, made.version)
	return made
}

func (s *tampered) ref() component.Ref {
	return component.Ref{Registry: &s.Registry, Name: s.version.Name, Version: s.version.Version}
}

// whenever changes the answers to reads of something with that in its path.
func (s *tampered) whenever(path string, do func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	handle := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, path) {
			do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
	s.answer.Store(&handle)
}

// flip answers with one byte changed, and with the same headers.
func flip(w http.ResponseWriter, r *http.Request, next http.Handler) {
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	body := recorded.Body.Bytes()
	if len(body) > 0 {
		body[len(body)/2] ^= 1
	}
	maps.Copy(w.Header(), recorded.Header())
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(body)
}

// longer answers with a byte more.
func longer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(append(recorded.Body.Bytes(), ' '))
}

func gone(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusNotFound) }

func broken(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusInternalServerError)
}

func (s *tampered) repository(t *testing.T) *remote.Repository {
	t.Helper()
	repository, err := remote.NewRepository(s.Host + "/component-descriptors/" + s.version.Name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	return repository
}

// tag returns the version's tag.
func (s *tampered) tag() string { return strings.ReplaceAll(s.version.Version, "+", ".build-") }

// edit replaces the descriptor as a user would who may write to the registry: with a manifest that is in order.
func (s *tampered) edit(t *testing.T, change func(t *testing.T, text []byte) []byte) {
	t.Helper()
	ctx, repository := t.Context(), s.repository(t)
	fetch := func(found ocispec.Descriptor, body io.ReadCloser, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		data, err := content.ReadAll(body, found)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(fetch(repository.FetchReference(ctx, s.tag())), &manifest); err != nil {
		t.Fatal(err)
	}
	body, err := repository.Fetch(ctx, manifest.Layers[0])
	archive := tar.NewReader(bytes.NewReader(fetch(manifest.Layers[0], body, err)))
	if _, err := archive.Next(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	layer := component.Tar("component-descriptor.yaml", change(t, text))
	manifest.Layers[0] = s.store(ctx, t, repository, manifest.Layers[0].MediaType, layer)
	config, err := json.Marshal(map[string]any{"componentDescriptorLayer": manifest.Layers[0]})
	if err != nil {
		t.Fatal(err)
	}
	manifest.Config = s.store(ctx, t, repository, manifest.Config.MediaType, config)
	manifest.Versioned = specs.Versioned{SchemaVersion: 2}
	root, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	described := content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, root)
	if err := repository.PushReference(ctx, described, bytes.NewReader(root), s.tag()); err != nil {
		t.Fatal(err)
	}
}

func (s *tampered) store(ctx context.Context, t *testing.T, at *remote.Repository, mediaType string, data []byte) ocispec.Descriptor {
	t.Helper()
	described := content.NewDescriptorFromBytes(mediaType, data)
	if err := at.Push(ctx, described, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return described
}

// resource edits one resource of the descriptor.
func (s *tampered) resource(t *testing.T, name string, change func(resource map[string]any)) {
	t.Helper()
	s.edit(t, func(t *testing.T, text []byte) []byte {
		return editYAML(t, text, func(_, about map[string]any) {
			for _, item := range about["resources"].([]any) {
				if resource := item.(map[string]any); resource["name"] == name {
					change(resource)
				}
			}
		})
	})
}

func editYAML(t *testing.T, text []byte, change func(document, about map[string]any)) []byte {
	t.Helper()
	document := map[string]any{}
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	change(document, document["component"].(map[string]any))
	text, err := yaml.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// another puts another image into the registry under a reference.
func (s *tampered) another(t *testing.T, reference string) string {
	t.Helper()
	made, err := random.Image(11, 1)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := imagename.ParseReference(reference, imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := imageremote.Write(parsed, made); err != nil {
		t.Fatal(err)
	}
	found, err := made.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return found.String()
}
