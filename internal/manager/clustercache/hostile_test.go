package clustercache

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

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

func TestConnection_DoesNotFollowRedirects(t *testing.T) {
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
	r.Track(ownerNamed("redirect"), []runtimes.Interest{{GroupVersionKind: configMaps}})
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

func TestIdentify_RefusesInvalidUID(t *testing.T) {
	for name, uid := range map[string]string{"a megabyte": strings.Repeat("a", 1<<20), "two lines": `one\ntwo`, "another alphabet": "\u0430"} {
		t.Run(name, func(t *testing.T) {
			b, s := newBench(t, func(c *Config) { c.Pinned = func(string, string) string { return "" } }), newStub(t)
			s.on("GET /api/v1/namespaces/kube-system", func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"metadata":{"uid":"`+uid+`"}}`)
			})
			target := b.remote(t, "nobody", s.config())
			eventually(t, "it is refused", func() bool {
				r, err := b.Get(t.Context(), target)
				if err == nil && r.ID() != "" {
					t.Fatalf("it is called %.100q", r.ID())
				}
				problem, ok := errors.AsType[*runtimes.Problem](err)
				return ok && len(problem.Message) < 500 && strings.Contains(problem.Message, "kube-system") && !strings.Contains(problem.Message, uid)
			})
		})
	}
}

func TestObserveDefinition_DropsInvalidNames(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	kind := func(resource, kind string) apidiscoveryv2.APIResourceDiscovery {
		return apidiscoveryv2.APIResourceDiscovery{
			Resource: resource, ResponseKind: &metav1.GroupVersionKind{Kind: kind}, Verbs: []string{"list", "delete"},
		}
	}
	group := func(name, version string) apidiscoveryv2.APIGroupDiscovery {
		return apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Versions: []apidiscoveryv2.APIVersionDiscovery{{
				Version: version, Resources: []apidiscoveryv2.APIResourceDiscovery{kind("goods", "Good"), kind("longs", long), kind(long, "Long")},
			}},
		}
	}
	found := &discoveryBuilder{taken: map[schema.GroupResource]bool{}}
	found.groups([]apidiscoveryv2.APIGroupDiscovery{group("a", "v1"), group(long, "v1"), group("b", long)})
	told := found.buildResult(nil)
	if got := told.apis.Value(); got != "a/v1\na/v1/Good" {
		t.Errorf("%d bytes are kept: %.200s", len(got), got)
	}
	if got := told.kinds.Value(); len(got) > 500 || !strings.Contains(got, "Good") {
		t.Errorf("%d bytes of kinds are kept: %.200s", len(got), got)
	}
}

func TestBreakerTransport_CapsRetryAfter(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	s.on("GET /api/v1/namespaces/a/configmaps/b", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Retry-After", "3600")
		statusAnswer(http.StatusTooManyRequests, "TooManyRequests")(w, req)
	})
	r := b.mustGet(t, b.remote(t, "later", s.config()))
	begun := time.Now()
	_, err := r.Cluster().Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
		Namespace("a").Get(t.Context(), "b", metav1.GetOptions{})
	if err == nil || time.Since(begun) > 10*time.Second {
		t.Fatalf("%v after %s", err, time.Since(begun))
	}
}

func TestConnection_CapsEndlessResponse(t *testing.T) {
	endless := io.NopCloser(readerFunc(func(p []byte) (int, error) { return len(p), nil }))
	n, err := io.Copy(io.Discard, &capped{ReadCloser: endless, left: 1 << 20})
	if n != 1<<20 || !errors.Is(err, wire.ErrTooLarge) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	short := &capped{ReadCloser: io.NopCloser(strings.NewReader("abc")), left: 1 << 20}
	if data, err := io.ReadAll(short); err != nil || string(data) != "abc" {
		t.Fatalf("%q, %v", data, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestSockets_RefusesForbiddenAddresses(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:443": true, "[fe80::1]:443": true, "[::ffff:169.254.169.254]:443": true, "0.0.0.0:443": true, "224.0.0.1:443": true,
		"nonsense": true, "10.0.0.1:443": false, "127.0.0.1:443": false, "[2001:db8::1]:443": false, "240.0.0.1:443": false,
		"168.63.129.16:443": true, "192.0.0.192:443": true, "100.100.100.200:443": true, "[fd00:ec2::254]:443": true,
		"[64:ff9b::a9fe:a9fe]:443": true, "[64:ff9b:1::a9fe:a9fe]:443": true, "[2002:a9fe:a9fe::1]:443": true,
		"[2001:0:4136:e378:8000:63bf:5601:5601]:443": true, "[64:ff9b::a00:1]:443": false, "[2002:a00:1::1]:443": false,
	} {
		if err := refuse("tcp", address, syscall.RawConn(nil)); (err != nil) != refused {
			t.Errorf("%s: %v, want refused: %v", address, err, refused)
		}
	}
}

func TestClusters_StopLeaksNothing(t *testing.T) {
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
				runtimes.Interest{GroupVersionKind: configMaps}, runtimes.Interest{GroupVersionKind: widgets("none.test"), Mode: runtimes.ModuleCR})
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
		r.Track(ownerNamed("late"), []runtimes.Interest{{GroupVersionKind: secrets}})
		b.InvalidateAccess(hubNamespace, "a")
	}
	stub.CloseClientConnections()
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+2 })
}
