package hostile

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

// trap is a malicious runtime. Behind it is a real API server, so that the manager gets as far as the attack requires.
type trap struct {
	URL string
	CA  []byte

	server *httptest.Server
	raw    net.Listener
	met    atomic.Int64 // how often the attack was met
	// user is the manager's user in its kubeconfig; known reports whether a request is by that user.
	user  string
	known func(*http.Request) bool

	mu     sync.Mutex
	wrong  []string // credentials that were sent but are not this runtime's
	conns  []net.Conn
	closed chan struct{}
}

// bait makes the attack respond instead of the API server, where it chooses to.
type bait func(t *trap, next http.Handler) http.Handler

// setTrap starts a runtime whose responses pass through an attack.
func setTrap(attack bait, changes ...func(*httptest.Server)) *trap {
	GinkgoHelper()
	t := &trap{user: "token: " + token.secret, known: byToken, closed: make(chan struct{})}
	t.server = httptest.NewUnstartedServer(t.guard(attack(t, apiServer())))
	t.server.EnableHTTP2 = true
	t.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	for _, change := range changes {
		change(t.server)
	}
	t.server.Listener = &noted{Listener: t.server.Listener, trap: t}
	t.server.StartTLS()
	t.URL = t.server.URL
	t.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: t.server.Certificate().Raw})
	return t
}

// setRawTrap starts a runtime that uses TLS, and then whatever speak sends.
func setRawTrap(speak func(t *trap, conn net.Conn), protocols ...string) *trap {
	GinkgoHelper()
	donor := httptest.NewUnstartedServer(nil)
	donor.StartTLS()
	defer donor.Close()
	config := donor.TLS.Clone()
	config.NextProtos = protocols
	t := listenRaw(func(t *trap, conn net.Conn) {
		secured := tls.Server(conn, config)
		if secured.Handshake() == nil {
			speak(t, secured)
		}
	})
	t.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: donor.Certificate().Raw})
	return t
}

// listenRaw starts a runtime that sends anything from the first byte.
func listenRaw(speak func(t *trap, conn net.Conn)) *trap {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	t := &trap{URL: "https://" + listener.Addr().String(), raw: listener, user: "token: " + token.secret, closed: make(chan struct{})}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				stop := make(chan struct{})
				defer close(stop)
				go func() {
					select {
					case <-t.closed:
						_ = conn.Close()
					case <-stop:
					}
				}()
				speak(t, breathing{conn})
			}()
		}
	}()
	return t
}

// spring ends the attack.
func (t *trap) spring() {
	close(t.closed)
	if t.raw != nil {
		_ = t.raw.Close()
		return
	}
	_ = t.server.Listener.Close()
	t.mu.Lock()
	for _, conn := range t.conns {
		_ = conn.Close()
	}
	t.mu.Unlock()
	t.server.Close()
}

// noted records the connections of a trap below TLS, because closing TLS waits seconds for a client that does not read.
type noted struct {
	net.Listener
	trap *trap
}

// Accept implements net.Listener.
func (n *noted) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err == nil {
		n.trap.mu.Lock()
		n.trap.conns = append(n.trap.conns, conn)
		n.trap.mu.Unlock()
		conn = breathing{conn}
	}
	return conn, err
}

// breathing is a connection that sends nothing while the meter holds breath.
type breathing struct{ net.Conn }

// Write implements io.Writer.
func (b breathing) Write(data []byte) (int, error) {
	breath.RLock()
	breath.RUnlock() //nolint:staticcheck // it is enough to have waited: the one who does not read must not keep the meter waiting
	return b.Conn.Write(data)
}

// byToken reports whether a request has the runtime's token, which no other server may ever see.
func byToken(req *http.Request) bool {
	got := req.Header.Get("Authorization")
	token.seen(got)
	return got == "Bearer "+token.secret
}

// guard keeps credentials from the API server behind, and attacks from outliving the trap.
func (t *trap) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !t.known(req) {
			t.mu.Lock()
			t.wrong = append(t.wrong, req.Header.Get("Authorization"))
			t.mu.Unlock()
		}
		next.ServeHTTP(w, req)
	})
}

// kubeconfig returns a kubeconfig for the trap.
func (t *trap) kubeconfig() []byte {
	trust := "certificate-authority-data: " + base64.StdEncoding.EncodeToString(t.CA)
	if len(t.CA) == 0 {
		trust = "insecure-skip-tls-verify: true"
	}
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: x, user: x}}]
clusters: [{name: x, cluster: {server: %q, %s}}]
users: [{name: x, user: {%s}}]
`, t.URL, trust, t.user)
}

// open reports whether the attack continues.
func (t *trap) open(req *http.Request) bool {
	select {
	case <-t.closed:
		return false
	case <-req.Context().Done():
		return false
	default:
		return true
	}
}

// pour writes the same bytes endlessly.
func (t *trap) pour(w io.Writer, req *http.Request, chunk []byte) {
	for t.open(req) {
		breath.RLock()
		breath.RUnlock() //nolint:staticcheck // as in breathing: the registry has connections of its own
		if _, err := w.Write(chunk); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// apiServer passes requests on to the second runtime as its administrator.
func apiServer() http.Handler {
	GinkgoHelper()
	config := env.Runtimes[1].Config
	transport, err := rest.TransportFor(config)
	Expect(err).NotTo(HaveOccurred())
	target, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	return &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		ModifyResponse: func(*http.Response) error { return nil },
	}
}

// on answers matching requests, and lets all others pass.
func on(match func(*http.Request) bool, answer func(t *trap, w http.ResponseWriter, req *http.Request)) bait {
	return func(t *trap, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if !match(req) {
				next.ServeHTTP(w, req)
				return
			}
			t.met.Add(1)
			answer(t, w, req)
		})
	}
}

// always matches everything.
func always(*http.Request) bool { return true }

// at matches the path of a request.
func at(path string) func(*http.Request) bool {
	return func(req *http.Request) bool { return req.URL.Path == path }
}

// lists and watches match reads of a resource.
func lists(resource string) func(*http.Request) bool {
	return func(req *http.Request) bool {
		return req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/"+resource) && req.URL.Query().Get("watch") == ""
	}
}

func watches(resource string) func(*http.Request) bool {
	return func(req *http.Request) bool {
		return req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/"+resource) && req.URL.Query().Get("watch") != ""
	}
}

// writes matches requests that change something.
func writes(req *http.Request) bool {
	return req.Method != http.MethodGet && req.Method != http.MethodHead
}

// answerJSON responds with a document.
func answerJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// junk is a chunk for pour.
var junk = bytes.Repeat([]byte("a"), 256<<10)
