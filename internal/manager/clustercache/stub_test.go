package clustercache

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// stub is an API server with scripted responses, over TLS and HTTP/2.
type stub struct {
	*httptest.Server
	opened atomic.Int64 // connections
	asked  atomic.Int64 // calls

	mu      sync.Mutex
	answers map[string]http.HandlerFunc // by "GET path" or "WATCH path"
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{answers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.opened.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	s.on("GET /version", jsonAnswer(`{"gitVersion":"v1.36.3"}`))
	return s
}

// on sets the response to a call.
func (s *stub) on(call string, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[call] = answer
}

func (s *stub) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.asked.Add(1)
	call := req.Method + " " + req.URL.Path
	if req.URL.Query().Get("watch") != "" {
		call = "WATCH " + req.URL.Path
	}
	s.mu.Lock()
	answer := s.answers[call]
	s.mu.Unlock()
	if answer == nil {
		http.NotFound(w, req)
		return
	}
	answer(w, req)
}

func (s *stub) config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &rest.Config{Host: s.URL, BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

func jsonAnswer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func statusAnswer(code int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"as told","code":%d}`, reason, code)
	}
}

// feed is a stream that a test writes events to.
type feed struct {
	events chan string
	asked  chan string // the resourceVersion of every watch
}

func newFeed() *feed { return &feed{events: make(chan string), asked: make(chan string, 100)} }

// serve handles a WATCH until the client closes it or the test sends "".
func (f *feed) serve(w http.ResponseWriter, req *http.Request) {
	f.asked <- req.URL.Query().Get("resourceVersion")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher)
	flush.Flush()
	for req.Context().Err() == nil { // one that has ended takes nothing from the next
		select {
		case event := <-f.events:
			if event == "" {
				return
			}
			_, _ = io.WriteString(w, event)
			flush.Flush()
		case <-req.Context().Done():
			return
		}
	}
}

func metaOf(name, uid, resourceVersion, owner string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":%q,"resourceVersion":%q,"annotations":{"owner":%q}}}`,
		name, uid, resourceVersion, owner)
}

func event(kind, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object) + "\n"
}

func mustFind(t *testing.T, r *Runtime, gvk schema.GroupVersionKind) *apply.Resource {
	t.Helper()
	resource, err := r.Cluster().Resource(t.Context(), gvk)
	if err != nil {
		t.Fatal(err)
	}
	return &resource
}
