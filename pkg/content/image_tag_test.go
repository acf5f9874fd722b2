package content

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

// pushImage puts an image into a real registry.
func pushImage(t testing.TB, host, repository, tag string, layers ...ocispec.Descriptor) ocispec.Descriptor {
	t.Helper()
	to, err := remote.NewRepository(host + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	to.PlainHTTP = true
	data, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": ocispec.MediaTypeImageManifest, "layers": layers, "config": ocispec.DescriptorEmptyJSON,
	})
	if err != nil {
		t.Fatal(err)
	}
	manifest := newShelf().putText(string(data))
	if err := to.Manifests().PushReference(t.Context(), manifest, strings.NewReader(string(data)), tag); err != nil {
		t.Fatal(err)
	}
	return manifest
}

func pushLayer(t testing.TB, host, repository, mediaType, data string) ocispec.Descriptor {
	t.Helper()
	to, err := remote.NewRepository(host + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	to.PlainHTTP = true
	layer := newShelf().layer(data)
	layer.MediaType = mediaType
	if err := to.Blobs().Push(t.Context(), layer, strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return layer
}

func TestTagIsResolvedOnceAndThenPinned(t *testing.T) {
	oci, host, counter := serve(t, newRegistry())
	first := pushImage(t, host, testImage, "v1", pushLayer(t, host, testImage, tarGzipType, archive(t, entry{name: "a", data: "first"})))
	source := &ImageSource{OCI: oci, Image: host + "/" + testImage + ":v1"}
	counter.requests.Store(0)
	resolved, err := source.Resolve(t.Context())
	want := Resolved{Digest: first.Digest.String(), MediaType: ocispec.MediaTypeImageManifest}
	if diff := cmp.Diff(want, resolved); diff != "" || err != nil || counter.requests.Load() != 1 {
		t.Errorf("error %v after %d requests, resolved (-want +got):\n%s", err, counter.requests.Load(), diff)
	}
	second := pushImage(t, host, testImage, "v1", pushLayer(t, host, testImage, tarGzipType, archive(t, entry{name: "a", data: "second"})))
	for what, test := range map[string]struct {
		resolved Resolved
		want     string
	}{"what was resolved before the tag moved": {resolved, "first"}, "what is resolved now": {Resolved{Digest: second.Digest.String()}, "second"}} {
		got, err := source.Fetch(t.Context(), test.resolved)
		if diff := cmp.Diff(tree("a", test.want), got); diff != "" || err != nil {
			t.Errorf("%s: error %v, tree (-want +got):\n%s", what, err, diff)
		}
	}
	counter.requests.Store(0)
	restarted := &ImageSource{OCI: &OCI{Store: &Store{Dir: oci.Store.Dir}, Registries: oci.Registries}, Image: source.Image}
	if _, err := restarted.Fetch(t.Context(), resolved); err != nil || counter.requests.Load() != 0 {
		t.Errorf("from the store: error %v after %d requests", err, counter.requests.Load())
	}
}

func TestDigestWinsOverTag(t *testing.T) {
	oci, host, counter := serve(t, newRegistry())
	pinned := pushImage(t, host, testImage, "v1", pushLayer(t, host, testImage, tarGzipType, archive(t, entry{name: "a", data: "pinned"})))
	pushImage(t, host, testImage, "v2", pushLayer(t, host, testImage, tarGzipType, archive(t, entry{name: "a", data: "other"})))
	counter.requests.Store(0)
	for _, image := range []string{":v2@" + pinned.Digest.String(), "@" + pinned.Digest.String()} {
		source := &ImageSource{OCI: oci, Image: host + "/" + testImage + image}
		resolved, err := source.Resolve(t.Context())
		if err != nil || resolved != (Resolved{Digest: pinned.Digest.String()}) || counter.requests.Load() != 0 {
			t.Errorf("%s: resolved %v, %v after %d requests", image, resolved, err, counter.requests.Load())
		}
		if source.Reference() != source.Image {
			t.Errorf("reference %s", source.Reference())
		}
	}
	got, err := (&ImageSource{OCI: oci, Image: host + "/" + testImage + ":v2@" + pinned.Digest.String()}).
		Fetch(t.Context(), Resolved{Digest: pinned.Digest.String()})
	if diff := cmp.Diff(tree("a", "pinned"), got); diff != "" || err != nil {
		t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
	}
}

func TestRegistriesWithoutHead(t *testing.T) {
	on := newShelf()
	manifest := on.manifest(t, on.layer(archive(t, entry{name: "a"})))
	for name, test := range map[string]struct {
		head   http.HandlerFunc
		told   string // in the answer to GET
		reason string
	}{
		"it does not allow it":              {status(http.StatusMethodNotAllowed), "", ""},
		"it does not know it":               {status(http.StatusNotImplemented), manifest.Digest.String(), ""},
		"it answers without a digest":       {status(http.StatusOK), "", ""},
		"it answers with another kind":      {serveDigest("sha512:" + strings.Repeat("0", 128)), "sha512:" + strings.Repeat("0", 128), ""},
		"it answers with something odd":     {serveDigest("sha256:../../x"), "", ""},
		"it then serves other bytes":        {status(http.StatusMethodNotAllowed), zeros, ReasonDigestMismatch},
		"it answers with a digest it lacks": {serveDigest(zeros), "", ReasonContentNotFound},
		"it does not have the tag":          {status(http.StatusNotFound), "", ReasonContentNotFound},
		"it does not let us":                {status(http.StatusForbidden), "", ReasonRegistryUnauthorized},
		"it is down":                        {status(http.StatusBadGateway), "", ReasonRegistryUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodHead:
					test.head(w, r)
				case strings.HasSuffix(r.URL.Path, "/manifests/v1"):
					if test.told != "" {
						w.Header().Set("Docker-Content-Digest", test.told)
					}
					_, _ = io.WriteString(w, on.manifests[manifest.Digest.String()])
				default:
					on.ServeHTTP(w, r)
				}
			}))
			_, err := fetchImage(t, source, host)
			if ReasonOf(err) != test.reason {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), test.reason)
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func serveDigest(digest string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Docker-Content-Digest", digest) }
}

// tagPages serves tags in pages that end with the given links.
func tagPages(links ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := 0
		_, _ = fmt.Sscanf(r.URL.Query().Get("last"), "%d", &page)
		if page < len(links) {
			w.Header().Set("Link", links[page])
		}
		_, _ = fmt.Fprintf(w, `{"tags":["1.0.%d"]}`, page)
	})
}

func TestTagsAreReadPageByPage(t *testing.T) {
	path := "/v2/" + testImage + "/tags/list"
	for name, test := range map[string]struct {
		links  []string
		want   []string
		reason string
	}{
		"one page":                        {nil, []string{"1.0.0"}, ""},
		"three pages":                     {[]string{`<` + path + `?last=1>; rel="next"`, `<` + path + `?n=7&last=2>;rel="next"`}, []string{"1.0.0", "1.0.1", "1.0.2"}, ""},
		"a link that is no next page":     {[]string{`<` + path + `?last=1>; rel="prev"`}, []string{"1.0.0"}, ""},
		"a link that is none":             {[]string{`next please`}, []string{"1.0.0"}, ""},
		"a link to another host":          {[]string{`<http://169.254.169.254` + path + `?last=1>; rel="next"`}, []string{"1.0.0", "1.0.1"}, ""},
		"a link to something else":        {[]string{`</v2/secrets?last=1>; rel="next"`}, nil, ReasonContentInvalid},
		"a link that cannot be read":      {[]string{`<:::%zz>; rel="next"`}, nil, ReasonContentInvalid},
		"pages that go on without end":    {[]string{`<` + path + `?last=0>; rel="next"`}, nil, ReasonContentTooLarge},
		"a link without a place to go to": {[]string{`<` + path + `>; rel="next"`}, nil, ReasonContentInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, counter := serve(t, tagPages(test.links...))
			got, err := source.tags(t.Context(), host, testImage)
			if diff := cmp.Diff(test.want, got); diff != "" || ReasonOf(err) != test.reason || counter.requests.Load() > maxTagPages {
				t.Errorf("error %v after %d requests, tags (-want +got):\n%s", err, counter.requests.Load(), diff)
			}
		})
	}
}

func TestTagsThatAreNoneAreRefused(t *testing.T) {
	many := `{"tags":["` + strings.Repeat(`1.0.0","`, maxTags) + `1.0.0"]}`
	for name, test := range map[string]struct{ body, reason string }{
		"no JSON":             {"<html>", ReasonContentInvalid},
		"text in their place": {`{"tags":"1.0.0"}`, ReasonContentInvalid},
		"too many":            {many, ReasonContentTooLarge},
		"too many bytes":      {`{"tags":["` + strings.Repeat("x", maxTagPage) + `"]}`, ReasonContentTooLarge},
		"none is no error":    {`{"name":"x","tags":null}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, _ := serve(t, blob(test.body))
			if got, err := source.tags(t.Context(), host, testImage); ReasonOf(err) != test.reason || len(got) > 0 {
				t.Errorf("%d tags, error %v with reason %q, want %q", len(got), err, ReasonOf(err), test.reason)
			}
		})
	}
}
