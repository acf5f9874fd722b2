package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// trunks is the round tripper of a lane for streams: it keeps one trunk, and makes another when that one takes no more streams, since the
// server leaves or allows no more of them. Where a proxy stands in between, or the server does not speak HTTP/2, net/http takes over.
type trunks struct {
	tls       *tls.Config
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	proxy     func(*http.Request) (*url.URL, error)
	spawn     func(func())
	otherwise func() *http.Transport

	mu    sync.Mutex
	open  []*trunk
	plain *http.Transport // net/http, once it had to take over
}

var errNotHTTP2 = errors.New("the API server does not speak HTTP/2")

// RoundTrip implements http.RoundTripper.
func (t *trunks) RoundTrip(req *http.Request) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		trunk, err := t.get(req)
		if errors.Is(err, errNotHTTP2) {
			return t.fallback().RoundTrip(req)
		}
		if err != nil {
			return nil, err
		}
		resp, err := trunk.open(req)
		if errors.Is(err, errDraining) && attempt < 2 { // it was refused before anybody looked at it
			continue
		}
		return resp, err
	}
}

// get gives a trunk that takes streams. Who comes while another one dials waits for it.
func (t *trunks) get(req *http.Request) (*trunk, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain != nil {
		return nil, errNotHTTP2
	}
	t.open = slices.DeleteFunc(t.open, (*trunk).ended)
	if at := slices.IndexFunc(t.open, (*trunk).usable); at >= 0 {
		return t.open[at], nil
	}
	if proxy, err := t.proxy(req); err != nil || proxy != nil || req.URL.Scheme != "https" {
		return nil, errors.Join(err, errNotHTTP2)
	}
	conn, err := t.handshake(req)
	if err != nil {
		return nil, err
	}
	made, err := newTrunk(conn)
	if err != nil {
		return nil, err
	}
	t.open = append(t.open, made)
	t.spawn(made.read)
	return made, nil
}

// handshake dials, and sees whether the server speaks HTTP/2.
func (t *trunks) handshake(req *http.Request) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(req.Context(), 2*dialTimeout)
	defer cancel()
	port := req.URL.Port()
	if port == "" {
		port = "443"
	}
	raw, err := t.dial(ctx, "tcp", net.JoinHostPort(req.URL.Hostname(), port))
	if err != nil {
		return nil, err
	}
	cfg := t.tls
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

// fallback gives net/http's transport. A server that does not speak HTTP/2 now will not do so later on this connection.
func (t *trunks) fallback() *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain == nil {
		t.plain = t.otherwise()
	}
	return t.plain
}
