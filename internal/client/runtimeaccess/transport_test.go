package runtimeaccess

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

// way returns the connection to a server, within bounds.
func way(t *testing.T, serve http.HandlerFunc, within bounds) *rest.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(serve)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if err := secure(config, within); err != nil {
		t.Fatal(err)
	}
	return config
}

// never does not respond. If it returned after its client left, it would answer 200, which the client could still read.
func never(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// TestTransport_NoServerHoldsTheReader: discovery sets no deadline, and the author of an access Secret chooses the server.
func TestTransport_NoServerHoldsTheReader(t *testing.T) {
	short := bounds{answer: 300 * time.Millisecond, body: 1 << 16}
	for name, c := range map[string]struct {
		serve  http.HandlerFunc
		within bounds
		words  string
	}{
		"a server that never answers": {never, short, "did not answer within 300ms"},
		"a server that never stops sending": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, `{"kind": "APIGroupList", `+strings.Repeat(" ", 4096)); err != nil {
					return
				}
			}
		}, bounds{answer: time.Minute, body: 1 << 16}, "more than 65536 bytes"},
		"a server that stops in the middle": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind": `)
			_ = http.NewResponseController(w).Flush()
			never(w, r)
		}, short, "did not answer within 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			config := way(t, c.serve, c.within)
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				t.Fatal(err)
			}
			found, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = found.ServerGroups()
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), c.words) || took > 15*time.Second {
				t.Errorf("after %s: %v", took, err)
			}
		})
	}
}

// TestTransport_AWatchGoesOn: the bounds apply to a response, not to a watch and not to a log that is followed.
func TestTransport_AWatchGoesOn(t *testing.T) {
	for _, address := range []string{"/api/v1/pods?watch=true", "/api/v1/namespaces/a/pods/b/log?follow=true"} {
		t.Run(address, func(t *testing.T) { goesOn(t, address) })
	}
}

func goesOn(t *testing.T, address string) {
	t.Helper()
	config := way(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 10 {
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
			_ = http.NewResponseController(w).Flush()
			<-time.After(300 * time.Millisecond)
		}
	}, bounds{answer: 2 * time.Second, body: 100})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || len(text) != 1000 {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}

// TestTransport_ASharedProgramReachesNothingInside: neither directly nor through a proxy.
func TestTransport_ASharedProgramReachesNothingInside(t *testing.T) {
	asked := 0
	config := way(t, func(http.ResponseWriter, *http.Request) { asked++ }, boundsOf(Shared(context.Background())))
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(config.Host)
	if err == nil {
		_ = answer.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "not accepted") || asked != 0 {
		t.Errorf("got %v after %d requests", err, asked)
	}
	shared, is := config.Transport.(guarded)
	if transport, ok := shared.next.(*http.Transport); !is || !ok || transport.Proxy != nil {
		t.Error("a proxy is asked, which reaches what may not be reached")
	}
	for address, accepted := range map[string]bool{
		"127.0.0.1:443": false, "[::1]:443": false, "[::ffff:127.0.0.1]:443": false, "169.254.169.254:80": false, "[fd00:ec2::254]:80": false,
		"100.100.100.200:80": false, "168.63.129.16:80": false, "10.0.0.1:6443": true, "192.168.1.1:6443": true, "[fd12::1]:6443": true,
		"192.0.0.1:80": false, "[64:ff9b::7f00:1]:443": false, "[64:ff9b::a9fe:a9fe]:80": false, "[64:ff9b:1::7f00:1]:443": false,
		"[2002:7f00:1::]:443": false, "[2002:a83f:8110::]:443": false, "[::127.0.0.1]:443": false,
		"[2001:0:4136:e378:8000:63bf:80ff:fffe]:443": false, "[64:ff9b::a00:1]:6443": true, "[64:ff9b:1::a00:1]:6443": true,
	} {
		if err := kubeconfig.Refuse(bounds{shared: true}.refused())("tcp", address, nil); (err == nil) != accepted {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestTransport_NobodyReadsThroughUsWhatAServerSays: the text of a server does not appear in an error.
func TestTransport_NobodyReadsThroughUsWhatAServerSays(t *testing.T) {
	config := way(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "inner s3cret", http.StatusForbidden) }, bounds{
		answer: time.Minute, body: 1 << 16,
	})
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ServerVersion(); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}
