package content

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// site is a web server that keeps what it was asked, with the credentials.
type site struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string
}

func newSite(t *testing.T, handler http.Handler) *site {
	t.Helper()
	made := &site{}
	made.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := r.URL.RequestURI()
		if name, password, ok := r.BasicAuth(); ok {
			text += " by " + name + ":" + password
		}
		made.mu.Lock()
		made.asked = append(made.asked, text)
		made.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(made.Close)
	return made
}

// requests returns those since the last call.
func (s *site) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := strings.Join(s.asked, ", ")
	s.asked = nil
	return list
}

// at serves files by their paths.
func at(files map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, data)
	})
}

func (s *site) source(t *testing.T, path, data string) *HTTPSource {
	t.Helper()
	return &HTTPSource{Store: newStore(t), URL: s.URL + path, SHA256: digestOf(data), CA: certificateOf(s.Server)}
}

func TestHTTPGivesFilesAsTheirBytesAre(t *testing.T) {
	packed := archive(t, entry{name: "a/b.yaml", data: "b: 1"}, entry{name: "c.yaml", data: "c: 1"})
	tree := map[string]string{"a/b.yaml": "b: 1", "c.yaml": "c: 1"}
	long := strings.Repeat("a: 1\n", 1000)
	for name, test := range map[string]struct {
		data string
		want map[string]string
	}{
		"a tar archive":          {packed, tree},
		"a tar archive in gzip":  {zip(t, packed), tree},
		"a manifest":             {"a: 1\n", map[string]string{"": "a: 1\n"}},
		"a long manifest":        {long, map[string]string{"": long}},
		"a manifest in gzip":     {zip(t, long), map[string]string{"": long}},
		"a manifest named ustar": {strings.Repeat("x", 300) + "ustar" + long, map[string]string{"": strings.Repeat("x", 300) + "ustar" + long}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newSite(t, at(map[string]string{"/file": test.data}))
			source := server.source(t, "/file", test.data)
			resolved, err := source.Resolve(t.Context())
			if err != nil || resolved.Digest != digestOf(test.data) || server.requests() != "" {
				t.Fatalf("%v, %v", resolved, err)
			}
			for range 2 {
				tree, err := source.Fetch(t.Context(), resolved)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, byPath(tree)); diff != "" {
					t.Error(diff)
				}
			}
			if got := server.requests(); got != "/file" {
				t.Errorf("requests %q", got)
			}
		})
	}
}

// hang never answers. A handler that only returned when its caller has gone would answer 200 then, and a client may still read that:
// net/http prefers an answer that comes with the end of its time.
func hang(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func TestHTTPRefuses(t *testing.T) {
	const data = "a: 1"
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, test := range map[string]struct {
		handler http.Handler
		change  func(*HTTPSource)
		reason  string
	}{
		"other bytes":       {blob("a: 2"), nil, ReasonDigestMismatch},
		"no bytes":          {blob(""), nil, ReasonDigestMismatch},
		"too many bytes":    {blob(data), func(h *HTTPSource) { h.Store.Limits.Packed = 3 }, ReasonContentTooLarge},
		"bytes without end": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, endless{}) }), nil, ReasonContentTooLarge},
		"an answer that breaks off": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			_, _ = io.WriteString(w, "a:")
		}), nil, ReasonRegistryUnreachable},
		"a file that is not there":      {status(http.StatusNotFound), nil, ReasonContentNotFound},
		"wrong credentials":             {status(http.StatusUnauthorized), nil, ReasonRegistryUnauthorized},
		"missing rights":                {status(http.StatusForbidden), nil, ReasonRegistryUnauthorized},
		"a server in trouble":           {status(http.StatusBadGateway), nil, ReasonRegistryUnreachable},
		"an answer without content":     {status(http.StatusNoContent), nil, ReasonRegistryUnreachable},
		"a redirect to http":            {http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound), nil, ReasonRegistryUnreachable},
		"a redirect to a file":          {http.RedirectHandler("file:///etc/passwd", http.StatusFound), nil, ReasonRegistryUnreachable},
		"redirects without end":         {http.RedirectHandler("/", http.StatusFound), nil, ReasonRegistryUnreachable},
		"a certificate of no one":       {blob(data), func(h *HTTPSource) { h.CA = nil }, ReasonRegistryUnreachable},
		"certificates that are none":    {blob(data), func(h *HTTPSource) { h.CA = []byte("x") }, ReasonSourceInvalid},
		"a digest that is none":         {blob(data), func(h *HTTPSource) { h.SHA256 = "abc" }, ReasonSourceInvalid},
		"no digest":                     {blob(data), func(h *HTTPSource) { h.SHA256 = "" }, ReasonSourceInvalid},
		"http":                          {blob(data), func(h *HTTPSource) { h.URL = "http://127.0.0.1:1/" }, ReasonSourceInvalid},
		"a file of this machine":        {blob(data), func(h *HTTPSource) { h.URL = "file:///etc/passwd" }, ReasonSourceInvalid},
		"an OCI reference":              {blob(data), func(h *HTTPSource) { h.URL = "oci://example.com/a" }, ReasonSourceInvalid},
		"a URL without a host":          {blob(data), func(h *HTTPSource) { h.URL = "https:///a" }, ReasonSourceInvalid},
		"a URL with credentials":        {blob(data), func(h *HTTPSource) { h.URL = "https://me:top-secret@127.0.0.1:1/" }, ReasonSourceInvalid},
		"a URL that cannot be read":     {blob(data), func(h *HTTPSource) { h.URL = "https://me:top-secret@a b/" }, ReasonSourceInvalid},
		"a URL with a broken escape":    {blob(data), func(h *HTTPSource) { h.URL = "https://me:top-secret@a/%zz" }, ReasonSourceInvalid},
		"a server that is away":         {blob(data), func(h *HTTPSource) { h.URL = "https://127.0.0.1:1/?token=top-secret" }, ReasonRegistryUnreachable},
		"a server that does not answer": {http.HandlerFunc(hang), func(h *HTTPSource) { h.Timeout = 50 * time.Millisecond }, ReasonRegistryUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			source := newSite(t, test.handler).source(t, "/", data)
			if test.change != nil {
				test.change(source)
			}
			for range 2 {
				_, err := source.Fetch(t.Context(), Resolved{Digest: digestOf(data)})
				if ReasonOf(err) != test.reason || strings.Contains(err.Error(), "top-secret") {
					t.Errorf("reason %s, error %v", ReasonOf(err), err)
				}
				if left := files(t, source.Store); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
			if strings.Contains(source.Reference(), "top-secret") {
				t.Errorf("reference %s", source.Reference())
			}
		})
	}
	source := newSite(t, blob("")).source(t, "/", "")
	if _, err := source.Fetch(t.Context(), Resolved{Digest: digestOf("")}); ReasonOf(err) != ReasonContentInvalid {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := source.Fetch(t.Context(), Resolved{Digest: digestOf("other")}); ReasonOf(err) != ReasonDigestMismatch {
		t.Errorf("another digest: %v", err)
	}
}

func TestHTTPHeedsWhenToComeBack(t *testing.T) {
	source := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})).source(t, "/", "x")
	_, err := source.Fetch(t.Context(), Resolved{Digest: digestOf("x")})
	var failed *Error
	if !errors.As(err, &failed) || failed.RetryAfter != 7*time.Second {
		t.Errorf("error %#v", err)
	}
}

// Credentials go to the scheme, host and port that they are for. A redirect elsewhere is followed without them, and so is one that comes
// back from there.
func TestHTTPSendsCredentialsToItsOwnServerOnly(t *testing.T) {
	const data = "a: 1"
	var first *site
	second := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, first.URL+"/back", http.StatusFound)
	}))
	first = newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/there":
			http.Redirect(w, r, second.URL+"/away", http.StatusFound)
		default:
			_, _ = io.WriteString(w, data)
		}
	}))
	source := first.source(t, "/here?a=b", data)
	source.CA = append(source.CA, certificateOf(second.Server)...)
	source.Username, source.Password = "me", "mine"
	if _, files := get(t, source); files[""] != data {
		t.Errorf("files %v", files)
	}
	if got := first.requests(); got != "/here?a=b by me:mine, /there by me:mine, /back" {
		t.Errorf("requests %s", got)
	}
	if got := second.requests(); got != "/away" {
		t.Errorf("requests %s", got)
	}
	if want := first.URL + "/here@" + digestOf(data); source.Reference() != want {
		t.Errorf("reference %s, want %s", source.Reference(), want)
	}
}

func TestHTTPWithoutTLSWhereItIsAllowed(t *testing.T) {
	server := httptest.NewServer(blob("a: 1"))
	t.Cleanup(server.Close)
	source := &HTTPSource{Store: newStore(t), URL: server.URL, SHA256: strings.TrimPrefix(digestOf("a: 1"), digestPrefix), AllowPlain: true}
	if _, files := get(t, source); files[""] != "a: 1" {
		t.Errorf("files %v", files)
	}
}

// Archives of the oldest format have no magic word.
func TestHTTPKnowsOldArchives(t *testing.T) {
	packed := []byte(archive(t, entry{name: "a.yaml", data: "a: 1"}))
	clear(packed[tarMagic:tarBlock])
	copy(packed[tarChecksum:tarChecksumEnd], "        ")
	sum := 0
	for _, each := range packed[:tarBlock] {
		sum += int(each)
	}
	copy(packed[tarChecksum:tarChecksumEnd], fmt.Sprintf("%06o\x00 ", sum))
	source := newSite(t, blob(string(packed))).source(t, "/", string(packed))
	if _, files := get(t, source); files["a.yaml"] != "a: 1" {
		t.Errorf("files %v", files)
	}
	packed[tarChecksum]++
	if isArchive(packed) {
		t.Error("a wrong checksum is no sign of an archive")
	}
}
