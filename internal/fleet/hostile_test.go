package fleet

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestARedirectDoesNotCarryTheCredentialsAway(t *testing.T) {
	asked := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { asked <- req.Header.Get("Authorization") }))
	defer other.Close()
	b, s := newBench(t, nil), newStub(t)
	away := func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, other.URL, http.StatusTemporaryRedirect)
	}
	s.on("GET /api/v1/namespaces/a/configmaps/b", away)
	s.on(listConfigMap, away)
	r := b.mustGet(t, b.remote(t, "redirect", s.config()))
	r.Track(ownerNamed("redirect"), []Interest{{GroupVersionKind: configMaps}})
	_, err := r.Cluster().Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
		Namespace("a").Get(t.Context(), "b", metav1.GetOptions{})
	if err == nil {
		t.Error("a redirect counts as an answer")
	}
	eventually(t, "the kind was asked for", func() bool { return b.calls.count(listConfigMap) > 0 })
	select {
	case credentials := <-asked:
		t.Fatalf("the redirect was followed with %q", credentials)
	case <-time.After(300 * time.Millisecond):
	}
}

func TestAServerCannotHoldAWorkerByRetryAfter(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	s.on("GET /api/v1/namespaces/a/configmaps/b", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Retry-After", "3600")
		statusAnswer(http.StatusTooManyRequests, "TooManyRequests")(w, req)
	})
	r := b.mustGet(t, b.remote(t, "later", s.config()))
	begun := time.Now()
	_, err := r.Cluster().Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
		Namespace("a").Get(t.Context(), "b", metav1.GetOptions{})
	if err == nil || time.Since(begun) > 2*time.Second {
		t.Fatalf("%v after %s", err, time.Since(begun))
	}
}

func TestAnAnswerWithoutEndIsCut(t *testing.T) {
	endless := io.NopCloser(readerFunc(func(p []byte) (int, error) { return len(p), nil }))
	n, err := io.Copy(io.Discard, &capped{ReadCloser: endless, left: 1 << 20})
	if n != 1<<20 || !errors.Is(err, errTooLarge) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	short := &capped{ReadCloser: io.NopCloser(strings.NewReader("abc")), left: 1 << 20}
	if data, err := io.ReadAll(short); err != nil || string(data) != "abc" {
		t.Fatalf("%q, %v", data, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestSomeAddressesAreNotDialled(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:443": true, "[fe80::1]:443": true, "[::ffff:169.254.169.254]:443": true, "0.0.0.0:443": true, "224.0.0.1:443": true,
		"nonsense": true, "10.0.0.1:443": false, "127.0.0.1:443": false, "[2001:db8::1]:443": false,
	} {
		if err := refuseLinkLocal("tcp", address, syscall.RawConn(nil)); (err != nil) != refused {
			t.Errorf("%s: %v, want refused: %v", address, err, refused)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	stub := newStub(t)
	feed := newFeed()
	stub.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"1"},"items":[]}`))
	stub.on(watchMap, feed.serve)
	before := runtime.NumGoroutine()
	for range 5 {
		b := newBench(t, nil)
		for _, kyma := range []string{"a", "b", "c"} {
			r := b.mustGet(t, b.remote(t, kyma, stub.config()))
			b.trackAll(t, r, ownerNamed(kyma),
				Interest{GroupVersionKind: configMaps}, Interest{GroupVersionKind: widgets("none.test"), Mode: ModuleCR})
		}
		dead := stub.config()
		dead.Host = "https://" + closedPort(t)
		target := b.remote(t, "dead", dead)
		_, _ = b.Get(t.Context(), target)
		r := b.mustGet(t, Target{Namespace: hubNamespace, Name: "a"})
		b.stop()
		if n := r.conn.open(); n != 0 {
			t.Errorf("%d connections left", n)
		}
		if _, err := b.Get(t.Context(), target); err == nil {
			t.Error("a closed fleet hands out connections")
		}
		r.Track(ownerNamed("late"), []Interest{{GroupVersionKind: secrets}})
		b.Drop(hubNamespace, "a")
	}
	stub.CloseClientConnections()
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+2 })
}
