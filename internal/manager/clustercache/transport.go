package clustercache

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
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
)

const (
	// maxBody caps the length of every response: a hostile API server must not fill the manager's memory. The weight of a response that is
	// read as a whole is bounded too, and streams are capped per event.
	maxBody = 32 << 20
	// maxHead caps the headers of a response.
	maxHead = 64 << 10
	// streamWindow is how much of a stream the server may send ahead; the default of 4 MiB, times all kinds of all runtimes, is too much.
	streamWindow     = 128 << 10
	connectionWindow = 512 << 10
	// pingCalls is after how much silence a server is pinged, and pongCalls how long the response may take: a call to a dead server
	// blocks for that long, as does every other call to it. A slow server answers pings at once. An unused connection
	// is closed after a few pings.
	pingCalls = 3 * time.Second
	pongCalls = 5 * time.Second
)

// refuse rejects addresses that cannot belong to a runtime. Runtimes may be in private networks, and on this machine.
var refuse = kubeconfig.Refuse(egress.Never)

// sockets are the open connections of one runtime, so that they can be closed without waiting for their users.
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
		Timeout: h2stream.DialTimeout,
		// the kernel detects a dead peer without waking a goroutine
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

// transportPool holds the connections of one kind to a runtime. It belongs to one runtime alone: client-go's transports come from a
// process-wide cache, which keeps the connections of revoked credentials and cannot close them.
type transportPool struct {
	http.RoundTripper
	sockets sockets
	// slot lets one call through at a time while no connection is established: calls that start together would each dial.
	slot   ctxMutex
	proven atomic.Bool
	idle   func() // closes unused connections
}

// tlsOf returns the TLS configuration of a runtime.
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

// openShort prepares the pool for short calls.
func (l *transportPool) openShort(cfg *rest.Config, tlsConfig *tls.Config) {
	transport := newTransport(cfg, tlsConfig, &l.sockets)
	transport.HTTP2.SendPingTimeout, transport.HTTP2.PingTimeout = pingCalls, pongCalls
	l.RoundTripper, l.idle = transport, transport.CloseIdleConnections
	l.sockets.emptied = transport.CloseIdleConnections // it would remember an HTTP/2 connection, and all its buffers, beyond its end
}

// openStreams prepares the pool for streams.
func (l *transportPool) openStreams(cfg *rest.Config, tlsConfig *tls.Config, spawn func(func())) {
	t := &h2stream.Transport{
		TLS: tlsConfig.Clone(), Dial: l.sockets.dial, Proxy: proxyOf(cfg), Go: spawn,
		Fallback: func() *http.Transport { return newTransport(cfg, tlsConfig, &l.sockets) },
	}
	t.TLS.NextProtos = []string{"h2", "http/1.1"}
	l.RoundTripper, l.idle = t, func() {}
}

// openStandard prepares the pool for streams over net/http.
func (l *transportPool) openStandard(cfg *rest.Config, tlsConfig *tls.Config) {
	transport := newTransport(cfg, tlsConfig, &l.sockets)
	l.RoundTripper, l.idle = transport, transport.CloseIdleConnections
}

func (l *transportPool) close() {
	l.idle()
	l.sockets.closeAll()
}

func newTransport(cfg *rest.Config, tlsConfig *tls.Config, s *sockets) *http.Transport {
	return &http.Transport{
		Proxy:                 proxyOf(cfg),
		DialContext:           s.dial,
		TLSClientConfig:       tlsConfig.Clone(), // it is changed
		TLSHandshakeTimeout:   h2stream.DialTimeout,
		ResponseHeaderTimeout: h2stream.CallTimeout,
		// the default is ten megabytes
		MaxResponseHeaderBytes: maxHead,
		IdleConnTimeout:        h2stream.IdleTimeout,
		MaxIdleConnsPerHost:    2,
		DisableCompression:     cfg.DisableCompression,
		ForceAttemptHTTP2:      true, // a dialer of one's own switches HTTP/2 off otherwise
		HTTP2: &http.HTTP2Config{
			SendPingTimeout:               h2stream.PingAfter,
			PingTimeout:                   h2stream.PingTimeout,
			WriteByteTimeout:              h2stream.PingTimeout,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connectionWindow,
		},
	}
}
