package clustercache

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// newPlainStub returns a stub without HTTP/2, as behind some proxies.
func newPlainStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{answers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	s.on("GET /version", jsonAnswer(`{}`))
	return s
}

func TestH2Transport_FallsBackToNetHTTP(t *testing.T) {
	for name, stub := range map[string]*stub{"over HTTP/1.1": newPlainStub(t), "over HTTP/2": newStub(t)} {
		t.Run(name, func(t *testing.T) {
			const me = hubNamespace + "/m"
			feed := newFeed()
			stub.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"100"},"items":[]}`))
			stub.on(watchMap, feed.serve)
			b := newBench(t, func(c *Config) { c.OwnerKey = "owner" })
			r := b.mustGet(t, b.remote(t, "plain", stub.config()))
			owner := ownerNamed("m")
			b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
			<-feed.asked
			feed.events <- event("ADDED", metaOf("a", "u1", "110", me))
			b.wantWake(t, owner, "an object appeared")
			feed.events <- ""
			if from := <-feed.asked; from != "110" {
				t.Errorf("resumed from %s", from)
			}
			feed.events <- event("DELETED", metaOf("a", "u1", "120", me))
			b.wantWake(t, owner, "it is gone")
			if live := r.Live(mapID("a")); live.Presence != inventory.Absent {
				t.Errorf("Live = %+v", live)
			}
			b.InvalidateAccess(hubNamespace, "plain")
			b.secrets.remove("access-plain")
			b.InvalidateAccess(hubNamespace, "plain")
			eventuallyWithin(t, h2stream.IdleTimeout/2, "nothing is open", func() bool { return r.conn.open() == 0 })
		})
	}
}

func TestH2Transport_OpensMoreConnectionsAboveStreamLimit(t *testing.T) {
	s := &stub{answers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2, s.Config.HTTP2 = true, &http.HTTP2Config{MaxConcurrentStreams: 2}
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	s.on("GET /version", jsonAnswer(`{}`))
	b, kinds := newBench(t, nil), []runtimes.Interest{{GroupVersionKind: configMaps}, {GroupVersionKind: secrets}, {GroupVersionKind: services}}
	for _, path := range []string{configMapPath, secretPath, servicePath} {
		s.on("GET "+path, jsonAnswer(`{"metadata":{"resourceVersion":"1"},"items":[]}`))
		s.on("WATCH "+path, newFeed().serve)
	}
	r := b.mustGet(t, b.remote(t, "few", s.config()))
	b.trackAll(t, r, ownerNamed("few"), kinds...)
	eventually(t, "all kinds are watched", func() bool { return r.streaming() == len(kinds) && r.conn.streams.sockets.count() == 2 })
}

func TestConfig_StandardStreamsUsesNetHTTP(t *testing.T) {
	s, feed := newStub(t), newFeed()
	s.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"100"},"items":[]}`))
	s.on(watchMap, feed.serve)
	b := newBench(t, func(c *Config) { c.OwnerKey, c.StandardStreams = "owner", true })
	r := b.mustGet(t, b.remote(t, "standard", s.config()))
	owner := ownerNamed("m")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
	<-feed.asked
	if _, standard := r.conn.streams.RoundTripper.(*http.Transport); !standard {
		t.Errorf("streams go over a %T", r.conn.streams.RoundTripper)
	}
	feed.events <- event("ADDED", metaOf("a", "u1", "110", hubNamespace+"/m"))
	b.wantWake(t, owner, "an object appeared")
}

// client-go counts its own calls; operators of the manager need the count of all calls.
func TestConnection_CountsCallsLikeClientGo(t *testing.T) {
	s := newStreamed(t, "")
	counted := func() (n float64) {
		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, series := range family.GetMetric() {
				for _, label := range series.GetLabel() {
					if family.GetName() == "rest_client_requests_total" && label.GetName() == "host" && "https://"+label.GetValue() == s.URL {
						n += series.GetCounter().GetValue()
					}
				}
			}
		}
		return n
	}
	eventually(t, "the probe, the list and the watch are counted", func() bool { return counted() == 3 }) // the watch when it is answered
	_ = readMapOf(t.Context(), s.r, "a")                                                                  // by client-go
	if n := counted(); n != 4 {
		t.Errorf("%v calls are counted after one more", n)
	}
	_, _ = s.r.Capabilities(t.Context())
	_, _ = s.r.Kinds(t.Context())
	_, _ = s.r.Cluster().Resource(t.Context(), widgets("counted.test"))
	_, _ = s.r.Cluster().Dynamic.Resource(mustFind(t, s.r, configMaps).GroupVersionResource).Namespace("ns").
		Create(t.Context(), newObject(configMaps, "ns", "b", s.owner), metav1.CreateOptions{})
	s.send(t, "") // the server ends the stream, which is opened again
	s.wantWatch(t, "100")
	if s.asked.Load() < 8 {
		t.Errorf("%d calls are too few for a test", s.asked.Load())
	}
	eventually(t, "as many calls are counted as the server has seen", func() bool { return int64(counted()) == s.asked.Load() })
}

func TestH2Transport_LeavesProxyToNetHTTP(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked = append(asked, req.Method+" "+req.Host)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := newStub(t)
	cfg := s.config()
	cfg.Proxy = func(*http.Request) (*url.URL, error) { return at, nil }
	tlsConfig, err := tlsOf(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var l transportPool
	l.openStreams(cfg, tlsConfig, func(do func()) { go do() })
	defer l.close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+configMapPath+"?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := l.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("the proxy was passed by")
	}
	if len(asked) != 1 || asked[0] != "CONNECT "+req.URL.Host {
		t.Fatalf("the proxy was asked %q", asked)
	}
}

// newestConn returns the newest connection for the runtime's streams, or nil.
func (r *Runtime) newestConn() *h2stream.Conn {
	t, ok := r.conn.streams.RoundTripper.(*h2stream.Transport)
	if !ok {
		return nil
	}
	return t.Newest()
}

// streaming counts the open streams.
func (r *Runtime) streaming() (n int) {
	t, ok := r.conn.streams.RoundTripper.(*h2stream.Transport)
	if !ok {
		return 0
	}
	return t.Streams()
}
