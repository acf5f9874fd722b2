package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

const testRepository = "component-descriptors/kyma-project.io/module/sample"

// counting counts the requests that reach a handler.
type counting struct {
	http.Handler
	requests atomic.Int64
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests.Add(1)
	c.Handler.ServeHTTP(w, r)
}

// serve runs handler as a registry without TLS and gives an OCI source for it.
func serve(t *testing.T, handler http.Handler) (source *OCI, host string, counter *counting) {
	t.Helper()
	counter = &counting{Handler: handler}
	server := httptest.NewServer(counter)
	t.Cleanup(server.Close)
	source = &OCI{Store: newStore(t)}
	source.PlainHTTP = func(string) bool { return true }
	source.Timeout = time.Minute
	return source, strings.TrimPrefix(server.URL, "http://"), counter
}

func referenceTo(host, data string) Reference {
	return Reference{Registry: host, Repository: testRepository, Digest: digestOf(data)}
}

// blob answers every request with data.
func blob(data string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, data) })
}

func push(t *testing.T, host string, data string) {
	t.Helper()
	repository, err := remote.NewRepository(host + "/" + testRepository)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	layer := ocispec.Descriptor{MediaType: "application/x-yaml", Digest: digest.Digest(digestOf(data)), Size: int64(len(data))}
	if err := repository.Blobs().Push(t.Context(), layer, strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
}

func newRegistry() http.Handler { return registry.New(registry.Logger(log.New(io.Discard, "", 0))) }

func TestLayerFetchesOnce(t *testing.T) {
	source, host, counter := serve(t, newRegistry())
	push(t, host, "hello")
	counter.requests.Store(0)
	for range 3 {
		path, err := source.Layer(t.Context(), referenceTo(host, "hello"))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "hello" {
			t.Errorf("read %q, %v", data, err)
		}
	}
	restarted := &OCI{Store: &Store{Dir: source.Store.Dir}, Registries: source.Registries}
	if _, err := restarted.Layer(t.Context(), referenceTo(host, "hello")); err != nil {
		t.Error(err)
	}
	if got := counter.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestLayerIsNotThere(t *testing.T) {
	source, host, _ := serve(t, newRegistry())
	_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
	if ReasonOf(err) != ReasonContentNotFound || !strings.Contains(err.Error(), referenceTo(host, "hello").String()) {
		t.Errorf("error %v", err)
	}
	push(t, host, "hello")
	if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); err != nil {
		t.Errorf("after it was pushed: %v", err)
	}
}

func TestLayerRefusesOddReferences(t *testing.T) {
	source, host, counter := serve(t, newRegistry())
	for _, ref := range []Reference{
		{}, {Registry: host, Repository: "a", Digest: "latest"}, {Registry: strings.ToUpper("example.com"), Repository: "a", Digest: zeros},
		{Registry: host, Repository: "../a", Digest: zeros}, {Registry: "http://" + host, Repository: "a", Digest: zeros},
	} {
		if _, err := source.Layer(t.Context(), ref); ReasonOf(err) != ReasonSourceInvalid {
			t.Errorf("%s: error %v", ref, err)
		}
	}
	if got := counter.requests.Load(); got != 0 {
		t.Errorf("%d requests, want none", got)
	}
}

func TestLayerVerifiesWhatIsServed(t *testing.T) {
	raw := func(answer string) http.Handler { // an answer as bytes on the wire
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(connection, answer)
				_ = connection.Close()
			}
		})
	}
	for name, test := range map[string]struct {
		handler http.Handler
		reason  string
	}{
		"the right bytes":                  {blob("hello"), ""},
		"the right bytes in chunks":        {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"), ""},
		"the right bytes without a length": {raw("HTTP/1.0 200 OK\r\n\r\nhello"), ""},
		"other bytes":                      {blob("hullo"), ReasonDigestMismatch},
		"nothing":                          {blob(""), ReasonDigestMismatch},
		"a body that breaks off":           {raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), ReasonRegistryUnreachable},
		"chunks that break off": {
			raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n"), ReasonRegistryUnreachable,
		},
		"a body that ends early":             {raw("HTTP/1.0 200 OK\r\n\r\nhel"), ReasonDigestMismatch},
		"a length that is too small":         {raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello"), ReasonDigestMismatch},
		"a length over the cap":              {raw("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\nhello"), ReasonContentTooLarge},
		"more bytes than the cap":            {blob(strings.Repeat("x", 101)), ReasonContentTooLarge},
		"bytes without end":                  {http.HandlerFunc(flood), ReasonContentTooLarge},
		"a part of the content":              {raw("HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello"), ReasonRegistryUnreachable},
		"something that is not HTTP":         {raw("hello"), ReasonRegistryUnreachable},
		"an empty answer":                    {raw(""), ReasonRegistryUnreachable},
		"a page that calls itself a success": {blob("<html>log in first</html>"), ReasonDigestMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, _ := serve(t, test.handler)
			source.Store.Limits.Packed = 100
			_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
			if ReasonOf(err) != test.reason {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), test.reason)
			}
			if left := files(t, source.Store); test.reason != "" && len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func flood(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 1<<10)); err != nil {
			return
		}
	}
}

func TestConcurrentCallsShareOneDownload(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	source, host, counter := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		started <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "hello")
	}))
	impatient, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() {
		_, err := source.Layer(impatient, referenceTo(host, "hello"))
		gaveUp <- err
	}()
	<-started
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); err != nil {
				t.Error(err)
			}
		})
	}
	cancel() // the one who started the download may be gone before it ends
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("the impatient caller: %v", err)
	}
	close(release)
	group.Wait()
	if got := counter.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestOCI_TwoProcessesFetchTheSame(t *testing.T) {
	source, host, _ := serve(t, blob("hello"))
	other := &OCI{Store: &Store{Dir: source.Store.Dir}, Registries: source.Registries}
	var group sync.WaitGroup
	for _, each := range []*OCI{source, other} {
		group.Go(func() {
			path, err := each.Layer(t.Context(), referenceTo(host, "hello"))
			if data, readErr := os.ReadFile(path); err != nil || readErr != nil || string(data) != "hello" {
				t.Errorf("read %q, %v, %v", data, err, readErr)
			}
		})
	}
	group.Wait()
	if left := files(t, source.Store); len(left) != 1 {
		t.Errorf("files: %v", left)
	}
}

func TestLayerKeepsAwayFromARegistryThatAsksForRest(t *testing.T) {
	source, host, counter := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	for _, data := range []string{"hello", "hello", "world"} {
		_, err := source.Layer(t.Context(), referenceTo(host, data))
		var typed *Error
		if !errors.As(err, &typed) || typed.Reason != ReasonRegistryUnreachable {
			t.Fatalf("error %v", err)
		}
		if typed.RetryAfter <= 20*time.Second || typed.RetryAfter > time.Minute {
			t.Errorf("retry after %s", typed.RetryAfter)
		}
	}
	if got := counter.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	source.mu.Lock()
	source.pauses[host] = time.Now() // the minute has ended
	source.mu.Unlock()
	_, _ = source.Layer(t.Context(), referenceTo(host, "hello"))
	if got := counter.requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-3": 0, "7": 7 * time.Second, "86400": maxPause, "99999999999": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

func TestLayerEndsWhenTheStoreCannotBeRead(t *testing.T) {
	source, host, counter := serve(t, blob("hello"))
	write(t, source.Store.Dir, "a file where the folder should be")
	if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); ReasonOf(err) != ReasonInternal {
		t.Errorf("error %v", err)
	}
	if got := counter.requests.Load(); got != 0 {
		t.Errorf("%d requests, want none", got)
	}
}

func TestErrorSpeaksForItsCause(t *testing.T) {
	cause := errors.New("cause")
	err := fmt.Errorf("context: %w", &Error{Reason: ReasonContentInvalid, Err: cause})
	if err.Error() != "context: cause" || !errors.Is(err, cause) || ReasonOf(err) != ReasonContentInvalid || ReasonOf(nil) != "" {
		t.Errorf("error %v, reason %q", err, ReasonOf(err))
	}
}
