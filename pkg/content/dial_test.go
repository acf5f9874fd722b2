package content

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
)

// TestDialControlSeesEveryAddress, also that of a redirect, and of a registry.
func TestDialControlSeesEveryAddress(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	refused := errors.New("not this address")
	ctx := WithDialControl(t.Context(), func(context.Context, string, string, syscall.RawConn) error { return refused })
	link := &LinkSource{Store: &Store{Dir: t.TempDir()}, URL: server.URL + "/m.yaml", AllowPlain: true}
	if _, err := link.Resolve(ctx); !errors.Is(err, refused) || asked != 0 {
		t.Errorf("a link: %v after %d requests", err, asked)
	}
	if _, err := link.Resolve(t.Context()); asked != 1 {
		t.Errorf("without control: %v after %d requests", err, asked)
	}
	registry := Registries{PlainHTTP: func(string) bool { return true }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v2/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := registry.Client().Do(request)
	if err == nil {
		_ = answer.Body.Close()
	}
	if !errors.Is(err, refused) || asked != 1 {
		t.Errorf("a registry: %v after %d requests", err, asked)
	}
}

// TestDialControlUsesNothingOfOthers: no connection that another user opened, also where a transport was made for certificates.
func TestDialControlUsesNothingOfOthers(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	refused := errors.New("not this address")
	control := WithDialControl(t.Context(), func(context.Context, string, string, syscall.RawConn) error { return refused })
	client := &http.Client{Transport: HostTransport(Transport(), func(string) HostPolicy { return HostPolicy{CA: ca} })}
	for _, c := range []struct {
		sentence string
		ctx      context.Context // what the cases differ in
		want     error
	}{
		{"the one who may go everywhere opens a connection", t.Context(), nil},
		{"it is not there for a user who may not", control, refused},
	} {
		request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.sentence, err)
		}
	}
}

// TestDialControlUsesNoProxy in any transport of this package.
func TestDialControlUsesNoProxy(t *testing.T) {
	before := environmentProxy
	defer func() { environmentProxy = before }()
	there := &url.URL{Scheme: "http", Host: "proxy.example:3128"}
	environmentProxy = func(*http.Request) (*url.URL, error) { return there, nil }
	alone, err := NewTransport(nil)
	if err != nil {
		t.Fatal(err)
	}
	control := WithDialControl(t.Context(), func(context.Context, string, string, syscall.RawConn) error { return nil })
	for name, transport := range map[string]*http.Transport{"shared": ours, "looked": looked, "web": alone} {
		for ctx, want := range map[context.Context]*url.URL{t.Context(): there, control: nil} {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://registry.example", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := transport.Proxy(request); got != want || err != nil {
				t.Errorf("%s: %v %v, want %v", name, got, err, want)
			}
		}
	}
}
