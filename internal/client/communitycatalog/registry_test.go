package communitycatalog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// newRegistry returns a registry with TLS.
func newRegistry(t *testing.T) (server *httptest.Server, host string) {
	t.Helper()
	server = httptest.NewTLSServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return server, strings.TrimPrefix(server.URL, "https://")
}

// layered is a layer of an artifact that a test pushes.
type layered struct {
	mediaType   string
	data        []byte
	annotations map[string]string
}

// pushed pushes an artifact to a registry as other tools do, and returns its digest.
func pushed(t *testing.T, address string, limits Limits, layers ...layered) string {
	t.Helper()
	image, err := content.ParseImage(address)
	if err != nil {
		t.Fatal(err)
	}
	to, done, err := openRegistry(image, limits)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	manifest := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: ocispec.DescriptorEmptyJSON,
	}
	layers = append(layers, layered{ocispec.MediaTypeEmptyJSON, ocispec.DescriptorEmptyJSON.Data, nil})
	for i, l := range layers {
		described := ocispec.Descriptor{
			MediaType: l.mediaType, Digest: digest.FromBytes(l.data), Size: int64(len(l.data)), Annotations: l.annotations,
		}
		if err := to.Blobs().Push(t.Context(), described, bytes.NewReader(l.data)); err != nil {
			t.Fatal(err)
		}
		if i < len(layers)-1 {
			manifest.Layers = append(manifest.Layers, described)
		}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	tagged, err := oras.TagBytes(t.Context(), to.Repository, ocispec.MediaTypeImageManifest, text, image.Tag)
	if err != nil {
		t.Fatal(err)
	}
	return tagged.Digest.String()
}

func titled(name string) map[string]string { return map[string]string{ocispec.AnnotationTitle: name} }

func TestPushAndFetch(t *testing.T) {
	server, host := newRegistry(t)
	limits, made := near(server), built(t, wholeFolder())
	address := "oci://" + host + "/example/catalog:latest"
	first, err := Push(t.Context(), address, made, limits)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Push(t.Context(), address, made, limits)
	if err != nil || again != first {
		t.Errorf("pushed again it is %s (%v), and was %s", again, err, first)
	}
	for name, source := range map[string]Source{
		"by tag":                   {URL: address},
		"by tag, with its digest":  {URL: address, Digest: first},
		"by digest":                {URL: "oci://" + host + "/example/catalog@" + first},
		"by tag and digest in one": {URL: address + "@" + first},
	} {
		t.Run(name, func(t *testing.T) {
			found, digest, err := Fetch(t.Context(), source, limits)
			if err != nil || digest != first || len(found.Templates) != 2 || len(found.Releases) != 1 {
				t.Errorf("%d templates, digest %s, error %v", len(found.Templates), digest, err)
			}
		})
	}
	other := Source{URL: address, Digest: digestOf(nil)}
	if _, _, err := Fetch(t.Context(), other, limits); content.ReasonOf(err) != content.ReasonDigestMismatch {
		t.Errorf("with another digest: %v", err)
	}
}

func TestArtifactsOfOtherTools(t *testing.T) {
	server, host := newRegistry(t)
	limits, made := near(server), built(t, wholeFolder())
	tar := content.Archive([]content.File{{Path: "all-modules.yaml", Data: made.YAML}, {Path: "README.md", Data: []byte("x")}})
	large := bytes.Repeat([]byte("#"), 2<<20)
	limits.Bytes = 1 << 20
	for name, c := range map[string]struct {
		layers []layered
		reason string
		says   string
	}{
		"one file, as oras pushes it": {[]layered{{"application/vnd.oci.image.layer.v1.tar", made.YAML, titled("all-modules.yaml")}}, "", ""},
		"one file without a name":     {[]layered{{"application/yaml", made.JSON, nil}}, "", ""},
		"a tar archive":               {[]layered{{ocispec.MediaTypeImageLayer, tar, nil}}, "", ""},
		"an archive with other files": {[]layered{{ocispec.MediaTypeImageLayer, content.Archive([]content.File{{Path: "x", Data: made.YAML}}), nil}}, content.ReasonContentInvalid, "neither"},
		"two layers without names":    {[]layered{{"a/b", made.YAML, nil}, {"a/b", made.JSON, nil}}, content.ReasonContentInvalid, "2 layers"},
		"no layer":                    {nil, content.ReasonContentInvalid, "no artifact with layers"},
		"a layer that is too large":   {[]layered{{"a/b", large, titled("all-modules.yaml")}}, content.ReasonContentTooLarge, "accepted"},
		"something else":              {[]layered{{"a/b", []byte("hello"), nil}}, content.ReasonContentInvalid, "document 1"},
		"invalid gzip":                {[]layered{{"a/b", []byte{0x1f, 0x8b, 0, 0}, nil}}, content.ReasonContentInvalid, "gzip"},
		"too many layers":             {make([]layered, 17), content.ReasonContentTooLarge, "17 layers"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.layers {
				if c.layers[i].mediaType == "" {
					c.layers[i] = layered{"a/b", []byte(fmt.Sprint(i)), nil}
				}
			}
			tag := strings.ReplaceAll(name, " ", "-")
			address := host + "/other:" + strings.ReplaceAll(tag, ",", "")
			pushed(t, address, limits, c.layers...)
			found, _, err := Fetch(t.Context(), Source{URL: "oci://" + address}, limits)
			if reason := content.ReasonOf(err); reason != c.reason {
				t.Fatalf("reason %q (%v), want %q", reason, err, c.reason)
			}
			if err == nil && len(found.Templates) != 2 {
				t.Errorf("%d templates", len(found.Templates))
			}
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q in it", err, c.says)
			}
		})
	}
	if _, _, err := Fetch(t.Context(), Source{URL: "oci://" + host + "/other:none"}, limits); content.ReasonOf(err) != content.ReasonContentNotFound {
		t.Errorf("a tag that there is not: %v", err)
	}
}

// cosign stores a signature beside an artifact, as cosign sign does with the repository as its identity.
func cosign(t *testing.T, repository, identity, digest, says string, key testKey, limits Limits) {
	t.Helper()
	text := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},`+
		`"type":"cosign container image signature"},"optional":null}`, identity, says)
	pushed(t, repository+":"+strings.Replace(digest, ":", "-", 1)+".sig", limits, layered{
		"application/vnd.dev.cosign.simplesigning.v1+json", text,
		map[string]string{annotationSignature: base64.StdEncoding.EncodeToString(key.sign(t, text))},
	})
}

func TestSignedArtifacts(t *testing.T) {
	server, host := newRegistry(t)
	limits, made := near(server), built(t, wholeFolder())
	keys := testKeys(t)
	ours, theirs := keys["ECDSA"], testKeys(t)["ECDSA"]
	for name, c := range map[string]struct {
		sign   func(repository, digest string)
		reason string
	}{
		"by our key":                        {func(r, d string) { cosign(t, r, r, d, d, ours, limits) }, ""},
		"without a signature":               {func(string, string) {}, v1beta2.ReasonSignatureMissing},
		"by another key":                    {func(r, d string) { cosign(t, r, r, d, d, theirs, limits) }, v1beta2.ReasonSignatureInvalid},
		"of another artifact":               {func(r, d string) { cosign(t, r, r, d, digestOf(nil), ours, limits) }, v1beta2.ReasonSignatureInvalid},
		"of our key for another repository": {func(r, d string) { cosign(t, r, host+"/beta", d, d, ours, limits) }, v1beta2.ReasonSignatureInvalid},
		"of our key for another registry":   {func(r, d string) { cosign(t, r, "example.com/by-our-key", d, d, ours, limits) }, v1beta2.ReasonSignatureInvalid},
		"of our key for another tag":        {func(r, d string) { cosign(t, r, r+":2", d, d, ours, limits) }, v1beta2.ReasonSignatureInvalid},
		"of our key for its tag":            {func(r, d string) { cosign(t, r, r+":1", d, d, ours, limits) }, ""},
		"of our key without an identity":    {func(r, d string) { cosign(t, r, "", d, d, ours, limits) }, ""},
		"with something else ": {func(r, d string) {
			pushed(t, r+":"+strings.Replace(d, ":", "-", 1)+".sig", limits, layered{"a/b", []byte("x"), nil})
		}, v1beta2.ReasonSignatureInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			repository := host + "/" + strings.ReplaceAll(strings.TrimSpace(name), " ", "-")
			digest, err := Push(t.Context(), "oci://"+repository+":1", made, limits)
			if err != nil {
				t.Fatal(err)
			}
			c.sign(repository, digest)
			_, _, err = Fetch(t.Context(), Source{URL: "oci://" + repository + ":1", Key: ours.public}, limits)
			if reason := content.ReasonOf(err); reason != c.reason {
				t.Errorf("reason %q (%v), want %q", reason, err, c.reason)
			}
		})
	}
}

func TestRegistry_ATokenServiceIsGuardedToo(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://169.254.169.254/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	limits := near(server)
	limits.Time = 20 * time.Second
	_, _, err := Fetch(t.Context(), Source{URL: "oci://" + strings.TrimPrefix(server.URL, "https://") + "/x:1"}, limits)
	// The registry library refuses it before the dialler does; either refusal is fine.
	if err == nil || !strings.Contains(err.Error(), "link-local") {
		t.Error(err)
	}
}

func TestRegistry_ARegistryThatServesOtherBytes(t *testing.T) {
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	lies := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lies && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "other")
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	limits := near(server)
	address := strings.TrimPrefix(server.URL, "https://") + "/x:1"
	pushed(t, address, limits, layered{"a/b", []byte("hello"), nil})
	lies = true
	_, _, err := Fetch(t.Context(), Source{URL: "oci://" + address}, limits)
	if content.ReasonOf(err) != content.ReasonDigestMismatch {
		t.Error(err)
	}
}

func TestRegistry_WhereACatalogIsPushed(t *testing.T) {
	for name, address := range map[string]string{
		"without a tag": "oci://example.com/x", "to a digest": "oci://example.com/x@" + digestOf(nil), "to the web": "https://example.com/x",
	} {
		if _, err := Push(t.Context(), address, Built{}, Limits{}); content.ReasonOf(err) != content.ReasonSourceInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
