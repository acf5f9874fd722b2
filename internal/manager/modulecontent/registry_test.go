package modulecontent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	component  = "example.com/module/sample"
	repository = "component-descriptors/" + component
	configMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sample}\n"
)

var key = module.ComponentKey{Name: component, Version: "1.0.0"}

// fake is an in-process registry that counts its requests, and that a test can switch off.
type fake struct {
	host     string
	requests atomic.Int64
	status   atomic.Int32 // returned for every request unless 0
	next     http.Handler
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests.Add(1)
	if status := f.status.Load(); status != 0 {
		w.WriteHeader(int(status))
		return
	}
	f.next.ServeHTTP(w, r)
}

func startRegistry(t *testing.T) *fake {
	t.Helper()
	f := &fake{next: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.host = strings.TrimPrefix(server.URL, "http://")
	return f
}

func (f *fake) components() *Components {
	components := NewComponents(&descriptor.Reader{Registry: f.host, Registries: descriptor.Registries{PlainHTTP: true}})
	components.calls.patience = time.Minute // a slow machine must not look like a slow registry
	return components
}

// push stores a blob and returns its digest.
func (f *fake) push(t *testing.T, mediaType, data string) ocispec.Descriptor {
	t.Helper()
	to, err := remote.NewRepository(f.host + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	to.PlainHTTP = true
	blob := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromString(data), Size: int64(len(data))}
	if err := to.Blobs().Push(t.Context(), blob, strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return blob
}

// publish stores a component version with one layer of the given resource name and media type.
func (f *fake) publish(t *testing.T, resource, mediaType string) (layer string) {
	t.Helper()
	raw := f.push(t, mediaType, configMap)
	described := f.push(t, "application/vnd.ocm.software.component-descriptor.v2+yaml", fmt.Sprintf(`
meta: {schemaVersion: v2}
component:
  name: %s
  version: 1.0.0
  provider: example.com
  repositoryContexts: []
  sources: []
  componentReferences: []
  resources:
  - {name: %s, type: PlainText, version: 1.0.0, relation: local, access: {type: localBlob, localReference: "%s", mediaType: %s}}
  - {name: operator, type: ociImage, version: 1.0.0, relation: external, access: {type: ociArtifact, imageReference: "example.com/operator:1.0.0"}}
`, component, resource, raw.Digest, mediaType))
	config := f.push(t, "application/vnd.ocm.software.component.config.v1+json", encode(t, map[string]any{"componentDescriptorLayer": described}))
	body := encode(t, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: config, Layers: []ocispec.Descriptor{described, raw},
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
		"http://"+f.host+"/v2/"+repository+"/manifests/1.0.0", bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", ocispec.MediaTypeImageManifest)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("put manifest: status %s, error %v", response.Status, err)
	}
	return raw.Digest.String()
}

func encode(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
