package fleet

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/egress"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

const (
	dialTimeout = 5 * time.Second
	callTimeout = 30 * time.Second
	// maxBody caps the length of every answer: a hostile API server must not fill the operator's memory. What is read as a whole is bounded
	// by its weight too, and streams are capped per event.
	maxBody = 32 << 20
	// maxHead caps the headers of an answer.
	maxHead = 64 << 10
	// streamWindow is how much of a stream the server may send ahead; the default of 4 MiB, times the kinds of a fleet, is not affordable.
	streamWindow     = 128 << 10
	connectionWindow = 512 << 10
	// pingCalls is when a silent server is asked whether it is there, and pongCalls how long that may take: so long does a call wait for a
	// server that is gone, and whatever else wants something of that one. A slow server answers pings at once. A connection that nobody
	// uses is closed after a few of them.
	pingCalls = 3 * time.Second
	pongCalls = 5 * time.Second
	// pingAfter is how long streams may be silent, as they are at rest, until the server is asked whether it is there.
	pingAfter   = 75 * time.Second
	pingTimeout = 15 * time.Second
	// idleTimeout is how long a connection is kept for the next call. Another handshake later costs less than its buffers until then.
	idleTimeout = 20 * time.Second
)

// refuse lets nothing be dialled that is no runtime. Runtimes may be in private networks, and on this machine.
var refuse = kubeconfig.Refuse(egress.Never)

// sockets are the open connections of one runtime, so that they can be closed without waiting for anybody.
type sockets struct {
	mu      sync.Mutex
	open    map[*socket]struct{}
	emptied func() // told, in a goroutine of its own, when the last one was closed
}

type socket struct {
	net.Conn
	of *sockets
}

// Close implements net.Conn.
func (s *socket) Close() error {
	s.of.mu.Lock()
	_, open := s.of.open[s]
	delete(s.of.open, s)
	last := open && len(s.of.open) == 0 && s.of.emptied != nil
	s.of.mu.Unlock()
	if last {
		go s.of.emptied()
	}
	return s.Conn.Close()
}

func (s *sockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout: dialTimeout,
		// the kernel notices a dead peer without waking anybody here
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 4},
		Control:         refuse,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	opened := &socket{Conn: conn, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*socket]struct{})
	}
	s.open[opened] = struct{}{}
	return opened, nil
}

func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func (s *sockets) closeAll() {
	s.mu.Lock()
	open := make([]*socket, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// lane is one way to a runtime. It belongs to one runtime alone: client-go's transports come from a process-wide cache, which keeps the
// connections of revoked credentials and cannot close them.
type lane struct {
	http.RoundTripper
	sockets sockets
	// slot lets one call through at a time while it is not proven that there is a connection: calls that start together would each dial.
	slot   door
	proven atomic.Bool
	idle   func() // closes connections that nobody uses
}

// tlsOf is the TLS configuration of a runtime.
func tlsOf(cfg *rest.Config) (*tls.Config, error) {
	tlsConfig, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return nil, err
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{}
	}
	tlsConfig.MinVersion = max(tlsConfig.MinVersion, tls.VersionTLS12)
	return tlsConfig, nil
}

func proxyOf(cfg *rest.Config) func(*http.Request) (*url.URL, error) {
	if cfg.Proxy != nil {
		return cfg.Proxy
	}
	return http.ProxyFromEnvironment
}

// openShort makes a lane for calls that are answered and done with.
func (l *lane) openShort(cfg *rest.Config, tlsConfig *tls.Config) {
	transport := newTransport(cfg, tlsConfig, &l.sockets)
	transport.HTTP2.SendPingTimeout, transport.HTTP2.PingTimeout = pingCalls, pongCalls
	l.RoundTripper, l.idle = transport, transport.CloseIdleConnections
	l.sockets.emptied = transport.CloseIdleConnections // it would remember an HTTP/2 connection, and all its buffers, beyond its end
}

// openStreams makes a lane for streams.
func (l *lane) openStreams(cfg *rest.Config, tlsConfig *tls.Config, spawn func(func())) {
	t := &trunks{
		tls: tlsConfig.Clone(), dial: l.sockets.dial, proxy: proxyOf(cfg), spawn: spawn,
		otherwise: func() *http.Transport { return newTransport(cfg, tlsConfig, &l.sockets) },
	}
	t.tls.NextProtos = []string{"h2", "http/1.1"}
	l.RoundTripper, l.idle = t, func() {}
}

// openStandard makes a lane for streams that net/http carries.
func (l *lane) openStandard(cfg *rest.Config, tlsConfig *tls.Config) {
	transport := newTransport(cfg, tlsConfig, &l.sockets)
	l.RoundTripper, l.idle = transport, transport.CloseIdleConnections
}

func (l *lane) close() {
	l.idle()
	l.sockets.closeAll()
}

func newTransport(cfg *rest.Config, tlsConfig *tls.Config, s *sockets) *http.Transport {
	return &http.Transport{
		Proxy:                 proxyOf(cfg),
		DialContext:           s.dial,
		TLSClientConfig:       tlsConfig.Clone(), // it is changed
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: callTimeout,
		// the default is ten megabytes
		MaxResponseHeaderBytes: maxHead,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    2,
		DisableCompression:     cfg.DisableCompression,
		ForceAttemptHTTP2:      true, // a dialer of one's own switches HTTP/2 off otherwise
		HTTP2: &http.HTTP2Config{
			SendPingTimeout:               pingAfter,
			PingTimeout:                   pingTimeout,
			WriteByteTimeout:              pingTimeout,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connectionWindow,
		},
	}
}
