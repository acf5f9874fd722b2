package fleet

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// newPlainStub is a stub that does not speak HTTP/2, as behind some proxies.
func newPlainStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{answers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	s.on("GET /version", jsonAnswer(`{}`))
	return s
}

func TestStreamsWorkWithoutATrunk(t *testing.T) {
	for name, stub := range map[string]*stub{"over HTTP/1.1": newPlainStub(t), "over HTTP/2": newStub(t)} {
		t.Run(name, func(t *testing.T) {
			const me = hubNamespace + "/m"
			feed := newFeed()
			stub.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"100"},"items":[]}`))
			stub.on(watchMap, feed.serve)
			b := newBench(t, func(c *Config) { c.OwnerKey = "owner" })
			r := b.mustGet(t, b.remote(t, "plain", stub.config()))
			owner := ownerNamed("m")
			b.trackAll(t, r, owner, Interest{GroupVersionKind: configMaps})
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
			b.Drop(hubNamespace, "plain")
			b.secrets.remove("access-plain")
			b.Drop(hubNamespace, "plain")
			eventuallyWithin(t, idleTimeout/2, "nothing is open", func() bool { return r.conn.open() == 0 })
		})
	}
}

func TestAProxyIsLeftToNetHTTP(t *testing.T) {
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
	var l lane
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
