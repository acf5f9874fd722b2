package h2stream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Transport is the round tripper of a pool for streams: it keeps one connection, and opens another when that one takes no more streams,
// because the server shuts down or limits them. With a proxy, or without HTTP/2 on the server, net/http takes over.
type Transport struct {
	// TLS is the client's configuration; its NextProtos must begin with h2.
	TLS *tls.Config
	// Dial opens a connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Proxy returns the proxy for a request, nil for none.
	Proxy func(*http.Request) (*url.URL, error)
	// Go runs the reader of a connection in a goroutine.
	Go func(func())
	// Fallback returns the transport for servers without HTTP/2 and for proxies.
	Fallback func() *http.Transport

	mu    sync.Mutex
	open  []*Conn
	plain *http.Transport // net/http, once it had to take over
}

const (
	// DialTimeout bounds one dial.
	DialTimeout = 5 * time.Second
	// CallTimeout bounds the wait for the head of a response.
	CallTimeout = 30 * time.Second
	// PingAfter is how long a connection may be silent at least, as it is at rest, until a ping is sent. Several seconds can be added to it.
	PingAfter = 70 * time.Second
	// PingTimeout is how long the response to a ping may take.
	PingTimeout = 15 * time.Second
	// IdleTimeout is how long an unused connection is kept. Another handshake later costs less than its buffers until then.
	IdleTimeout = 20 * time.Second
)

var errNotHTTP2 = errors.New("the API server does not speak HTTP/2")

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		conn, err := t.get(req)
		if errors.Is(err, errNotHTTP2) {
			return t.fallback().RoundTrip(req)
		}
		if err != nil {
			return nil, err
		}
		resp, err := conn.open(req)
		if errors.Is(err, errDraining) && attempt < 2 { // the server refused it unprocessed
			continue
		}
		return resp, err
	}
}

// get returns a connection that takes streams. Concurrent callers wait for the one that dials.
func (t *Transport) get(req *http.Request) (*Conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain != nil {
		return nil, errNotHTTP2
	}
	t.open = slices.DeleteFunc(t.open, (*Conn).ended)
	if at := slices.IndexFunc(t.open, (*Conn).usable); at >= 0 {
		return t.open[at], nil
	}
	if proxy, err := t.Proxy(req); err != nil || proxy != nil || req.URL.Scheme != "https" {
		return nil, errors.Join(err, errNotHTTP2)
	}
	conn, err := t.handshake(req)
	if err != nil {
		return nil, err
	}
	made, err := newConn(conn)
	if err != nil {
		return nil, err
	}
	t.open = append(t.open, made)
	t.Go(made.read)
	return made, nil
}

// handshake dials, and checks whether the server speaks HTTP/2.
func (t *Transport) handshake(req *http.Request) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(req.Context(), 2*DialTimeout)
	defer cancel()
	port := req.URL.Port()
	if port == "" {
		port = "443"
	}
	raw, err := t.Dial(ctx, "tcp", net.JoinHostPort(req.URL.Hostname(), port))
	if err != nil {
		return nil, err
	}
	cfg := t.TLS
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName = req.URL.Hostname()
	}
	conn := tls.Client(raw, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	if conn.ConnectionState().NegotiatedProtocol != "h2" {
		_ = conn.Close()
		return nil, errNotHTTP2
	}
	return conn, nil
}

// fallback returns net/http's transport. A server that does not speak HTTP/2 now will not do so later on this connection.
func (t *Transport) fallback() *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain == nil {
		t.plain = t.Fallback()
	}
	return t.plain
}

// Newest returns the newest connection, nil when there is none.
func (t *Transport) Newest() *Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 {
		return nil
	}
	return t.open[len(t.open)-1]
}

// Streams returns the number of open streams, of all connections.
func (t *Transport) Streams() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range t.open {
		each.mu.Lock()
		n += len(each.subs)
		each.mu.Unlock()
	}
	return n
}
