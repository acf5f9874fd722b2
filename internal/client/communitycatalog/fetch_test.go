package communitycatalog

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// site is a web server with TLS that counts its requests.
type site struct {
	*httptest.Server
	asked atomic.Int64
}

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		handler(w, r)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

// ca returns the certificate of a test server in PEM.
func ca(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// near returns limits that allow a server on this machine.
func near(server *httptest.Server) Limits {
	return Limits{AllowPrivate: true, Time: 30 * time.Second, Registries: content.Registries{
		Policy: func(string) content.HostPolicy { return content.HostPolicy{CA: ca(server)} },
	}}
}

// serving serves files by their path.
func serving(files map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, there := files[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}
}

func TestFetchFromTheWeb(t *testing.T) {
	catalog := string(built(t, wholeFolder()).YAML)
	s := newSite(t, serving(map[string]string{"/all-modules.yaml": catalog}))
	source := Source{Name: "ours", URL: s.URL + "/all-modules.yaml"}
	found, digest, err := Fetch(t.Context(), source, near(s.Server))
	if err != nil {
		t.Fatal(err)
	}
	if digest != digestOf([]byte(catalog)) {
		t.Errorf("digest %s", digest)
	}
	if diff := cmp.Diff([]Module{{Name: "notes", Versions: []string{"1.1.0", "1.0.0"}, New: true}}, found.Modules()); diff != "" {
		t.Error(diff)
	}
	source.Digest = digest
	if _, _, err := Fetch(t.Context(), source, near(s.Server)); err != nil {
		t.Errorf("with its digest: %v", err)
	}
}

func TestFetch_WhatTheWebServesWrongly(t *testing.T) {
	catalog := string(built(t, wholeFolder()).YAML)
	answers := map[string]http.HandlerFunc{
		"/ok":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, catalog) },
		"/html":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sign in</html>") },
		"/secret": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"/broken": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"/half": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			_, _ = io.WriteString(w, "a")
		},
		"/endless": func(w http.ResponseWriter, r *http.Request) { endless(r.Context(), w) },
		"/gzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte{0x1f, 0x8b, 8})
		},
		"/around": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/around", http.StatusFound) },
		"/moved": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/ok?token=secret", http.StatusFound)
		},
		"/lost": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/none?token=secret", http.StatusFound)
		},
		"/plain": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com/?token=secret", http.StatusFound)
		},
		"/cloud": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://169.254.169.254/latest/meta-data?token=secret", http.StatusFound)
		},
		"/file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
	}
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if answer, there := answers[r.URL.Path]; there {
			answer(w, r)
			return
		}
		http.NotFound(w, r)
	})
	for name, c := range map[string]struct {
		path, digest, reason, says string
	}{
		"what is there":                      {"/ok", "", "", ""},
		"a redirect to the catalog":          {"/moved", "", "", ""},
		"another digest":                     {"/ok", digestOf(nil), content.ReasonDigestMismatch, "it was changed"},
		"a page to sign in":                  {"/html", "", content.ReasonContentInvalid, "/html: document 1"},
		"nothing":                            {"/none", "", content.ReasonContentNotFound, "404"},
		"what is refused":                    {"/secret", "", content.ReasonRegistryUnauthorized, "403"},
		"a server in trouble":                {"/broken", "", content.ReasonRegistryUnreachable, "502"},
		"an answer that breaks off":          {"/half", "", content.ReasonRegistryUnreachable, "broke off"},
		"an endless response":                {"/endless", "", content.ReasonContentTooLarge, "more than"},
		"a compressed response":              {"/gzip", "", content.ReasonContentInvalid, "UTF-8"},
		"a redirect loop":                    {"/around", "", content.ReasonSourceInvalid, "too many redirects: more than 5"},
		"a redirect to nothing":              {"/lost", "", content.ReasonContentNotFound, "404"},
		"a redirect without encryption":      {"/plain", "", content.ReasonSourceInvalid, "without encryption"},
		"a redirect to a file":               {"/file", "", content.ReasonSourceInvalid, "without encryption"},
		"a redirect to the metadata service": {"/cloud", "", content.ReasonSourceInvalid, "no catalog is read from"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := near(s.Server)
			limits.Bytes = 1 << 20
			_, _, err := Fetch(t.Context(), Source{Name: "ours", URL: s.URL + c.path, Digest: c.digest}, limits)
			if reason := content.ReasonOf(err); reason != c.reason {
				t.Fatalf("reason %q (%v), want %q", reason, err, c.reason)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret=") || strings.Contains(err.Error(), "token")) {
				t.Errorf("%v, want %q in it and no token", err, c.says)
			}
		})
	}
}

// endless writes until the client closes the connection.
func endless(ctx context.Context, w io.Writer) {
	block := []byte(strings.Repeat("# more\n", 4096))
	for ctx.Err() == nil {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func TestPrivateAddressesAreNotDialled(t *testing.T) {
	s := newSite(t, serving(nil))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	for name, c := range map[string]struct {
		url string
	}{
		"this machine by address":        {s.URL + "/x"},
		"this machine by name":           {"https://localhost:" + port + "/x"},
		"this machine inside of IPv6":    {"https://[::ffff:127.0.0.1]:" + port + "/x"},
		"a registry on this machine":     {"oci://127.0.0.1:" + port + "/catalog:1"},
		"a registry by name":             {"oci://localhost:" + port + "/catalog:1"},
		"the metadata service of clouds": {"https://169.254.169.254/latest"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := near(s.Server)
			limits.AllowPrivate = false
			_, _, err := Fetch(t.Context(), Source{Name: "ours", URL: c.url}, limits)
			if content.ReasonOf(err) != content.ReasonSourceInvalid || !strings.Contains(err.Error(), "it leads to") {
				t.Errorf("%v", err)
			}
		})
	}
	if n := s.asked.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestProxiesDoNotLeadAroundTheGuard(t *testing.T) {
	proxy := newSite(t, serving(nil))
	t.Setenv("HTTPS_PROXY", proxy.URL)
	s := newSite(t, serving(nil))
	if _, _, err := Fetch(t.Context(), Source{Name: "ours", URL: s.URL + "/x"}, Limits{}); content.ReasonOf(err) != content.ReasonSourceInvalid {
		t.Errorf("%v", err)
	}
	for _, allowPrivate := range []bool{false, true} {
		if transport := guarded(allowPrivate); transport.Proxy != nil || proxy.asked.Load() != 0 {
			t.Errorf("with private addresses allowed %t, a proxy is asked", allowPrivate)
		}
	}
}

func TestSignedFiles(t *testing.T) {
	catalog := string(built(t, wholeFolder()).YAML)
	for kind, key := range testKeys(t) {
		t.Run(kind, func(t *testing.T) {
			raw := key.sign(t, []byte(catalog))
			s := newSite(t, serving(map[string]string{
				"/a": catalog, "/a.sig": string(raw), "/b": catalog, "/b.sig": base64.StdEncoding.EncodeToString(raw) + "\n",
				"/changed": catalog + "# more\n", "/changed.sig": string(raw), "/none": catalog, "/odd": catalog, "/odd.sig": "hello",
			}))
			for path, want := range map[string]string{
				"/a": "", "/b": "", "/changed": v1beta2.ReasonSignatureInvalid, "/none": v1beta2.ReasonSignatureMissing,
				"/odd": v1beta2.ReasonSignatureInvalid,
			} {
				_, _, err := Fetch(t.Context(), Source{Name: "ours", URL: s.URL + path, Key: key.public}, near(s.Server))
				if reason := content.ReasonOf(err); reason != want {
					t.Errorf("%s: %q (%v), want %q", path, reason, err, want)
				}
			}
			other := testKeys(t)[kind]
			if _, _, err := Fetch(t.Context(), Source{Name: "ours", URL: s.URL + "/a", Key: other.public}, near(s.Server)); content.ReasonOf(err) !=
				v1beta2.ReasonSignatureInvalid {
				t.Errorf("by another key: %v", err)
			}
		})
	}
}

func TestSourcesThatMakeNoSense(t *testing.T) {
	for name, c := range map[string]struct {
		source Source
		want   string
	}{
		"no name":                     {Source{URL: "https://example.com/x"}, "no name"},
		"a name with a slash":         {Source{Name: "../x", URL: "https://example.com/x"}, "no name"},
		"a name that is too long":     {Source{Name: strings.Repeat("a", 41), URL: "https://example.com/x"}, "no name"},
		"no address":                  {Source{Name: "a"}, "begins with https://"},
		"no encryption":               {Source{Name: "a", URL: "http://example.com/x"}, "encryption"},
		"a file":                      {Source{Name: "a", URL: "file:///etc/passwd"}, "begins with https://"},
		"a login":                     {Source{Name: "a", URL: "https://me:secret@example.com/x"}, "login"},
		"a query":                     {Source{Name: "a", URL: "https://example.com/x?token=secret"}, "query"},
		"a fragment":                  {Source{Name: "a", URL: "https://example.com/x#secret"}, "fragment"},
		"no host":                     {Source{Name: "a", URL: "https:///x"}, "host"},
		"a line break":                {Source{Name: "a", URL: "https://example.com/\nHost: x"}, "control characters"},
		"an endless address":          {Source{Name: "a", URL: "https://example.com/" + strings.Repeat("x", maxText)}, "longer"},
		"an image without a tag":      {Source{Name: "a", URL: "oci://example.com/x"}, "tag"},
		"an image without a registry": {Source{Name: "a", URL: "oci://x:1"}, "registry"},
		"a namespace that is none":    {Source{Name: "a", URL: "cluster://A"}, "no namespace"},
		"a digest that is none":       {Source{Name: "a", URL: "https://example.com/x", Digest: "sha256:secret"}, "digest"},
		"a key that is none":          {Source{Name: "a", URL: "https://example.com/x", Key: "secret"}, "public key"},
		"a digest of a namespace":     {Source{Name: "a", URL: "cluster://a", Digest: digestOf(nil)}, "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.source.Complete()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q in it", err, c.want)
			}
			if content.ReasonOf(err) != content.ReasonSourceInvalid {
				t.Errorf("reason %s", content.ReasonOf(err))
			}
		})
	}
}

func FuzzSource(f *testing.F) {
	for _, url := range []string{"https://example.com/x", "oci://example.com/x:1", "cluster://a", "https://a:b@c", "https://[::1", "oci://a@b", ""} {
		f.Add(url, "sha256:00")
	}
	f.Fuzz(func(t *testing.T, url, digest string) {
		source, err := Source{Name: "a", URL: url, Digest: digest}.Complete()
		if err == nil && (source.Kind == "" || strings.ContainsAny(source.URL, " \n?#")) {
			t.Errorf("%q is taken: %+v", url, source)
		}
	})
}

func TestLinksAreReadOnce(t *testing.T) {
	s := newSite(t, serving(map[string]string{"/x": "hello"}))
	read := Links(near(s.Server))
	for range 3 {
		if data, err := read(t.Context(), s.URL+"/x"); err != nil || string(data) != "hello" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if n := s.asked.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestFetch_ASlowServerIsLeftAlone(t *testing.T) {
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // or a client that gives up may read an empty response
	})
	limits := near(s.Server)
	limits.Time = 50 * time.Millisecond
	if _, _, err := Fetch(t.Context(), Source{Name: "ours", URL: s.URL + "/x"}, limits); content.ReasonOf(err) != content.ReasonRegistryUnreachable {
		t.Error(err)
	}
}
