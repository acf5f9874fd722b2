package descriptor

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

const (
	harbourName    = "example.org/module/harbour"
	harbourVersion = "1.4.0"
	harbourPath    = "component-descriptors/" + harbourName
)

// middleware sits between a test and its registry, to break what the test is about.
type middleware func(http.Handler) http.Handler

// start serves an empty registry and returns its host.
func start(t *testing.T, between ...middleware) string {
	t.Helper()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	for _, wrap := range between {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// artifact is what a test puts into the registry in place of a component version. Empty fields mean what OCM writes.
type artifact struct {
	path, tag       string
	configMediaType string
	config          []byte
	layerMediaType  string
	layer           []byte
	layers          []ocispec.Descriptor // further ones, which are only listed
	skipLayer       bool                 // leaves the descriptor's layer out of the registry
	layerSize       int64                // that the config announces, when it lies
	manifest        []byte
	mediaType       string
}

// put stores an artifact by hand, so that nothing of what is tested is used to make it.
func (a artifact) put(t *testing.T, host string) {
	t.Helper()
	repository, err := remote.NewRepository(host + "/" + or(a.path, harbourPath))
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		blob := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := repository.Blobs().Push(context.Background(), blob, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return blob
	}
	layer := ocispec.Descriptor{
		MediaType: or(a.layerMediaType, tarMediaTypes[0]), Digest: digest.FromBytes(a.layer), Size: int64(len(a.layer)),
	}
	if !a.skipLayer {
		push(layer.MediaType, a.layer)
	}
	if a.layerSize != 0 {
		layer.Size = a.layerSize
	}
	if a.config == nil {
		a.config = marshal(t, map[string]any{"componentDescriptorLayer": layer})
	}
	config := push(or(a.configMediaType, configMediaTypes[0]), a.config)
	if a.manifest == nil {
		a.manifest = marshal(t, ocispec.Manifest{
			Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
			Config: config, Layers: append([]ocispec.Descriptor{layer}, a.layers...),
		})
	}
	a.putManifest(t, host)
}

// putManifest sends the manifest as it is: a proper client would refuse to send garbage.
func (a artifact) putManifest(t *testing.T, host string) {
	t.Helper()
	url := "http://" + host + "/v2/" + or(a.path, harbourPath) + "/manifests/" + or(a.tag, harbourVersion)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, bytes.NewReader(a.manifest))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", or(a.mediaType, ocispec.MediaTypeImageManifest))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("put manifest: status %s, error %v", response.Status, err)
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// plain returns a reader of a registry that start has started.
func plain(host string) *Reader {
	return &Reader{Registry: host, Registries: Registries{PlainHTTP: true}}
}
