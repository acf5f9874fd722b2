package content

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
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
