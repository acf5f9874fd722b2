package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

const (
	dialTimeout = 5 * time.Second
	callTimeout = 30 * time.Second
	// maxBody caps what one call may answer: a hostile API server must not fill the operator's memory. Streams are capped per event.
	maxBody = 32 << 20
	// streamWindow is how much of a stream the server may send ahead; the default of 4 MiB, times the kinds of a fleet, is not affordable.
	streamWindow     = 128 << 10
	connectionWindow = 512 << 10
	// pingAfter lies above the minute between two bookmarks, so that a healthy connection is never pinged.
	pingAfter   = 75 * time.Second
	pingTimeout = 15 * time.Second
)

// sockets are the open connections of one runtime, so that they can be closed without waiting for anybody.
type sockets struct {
	mu   sync.Mutex
	open map[*socket]struct{}
}

type socket struct {
	net.Conn
	of *sockets
}

// Close implements net.Conn.
func (s *socket) Close() error {
	s.of.mu.Lock()
	delete(s.of.open, s)
	s.of.mu.Unlock()
	return s.Conn.Close()
}

func (s *sockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout: dialTimeout,
		// the kernel notices a dead peer without waking anybody here
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 4},
		Control:         refuseLinkLocal,
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

// refuseLinkLocal keeps a kubeconfig from reaching the metadata service of the machine that the operator runs on. It sees the address that
// a name was resolved to.
func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %q: %w", address, err)
	}
	if ip := target.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return fmt.Errorf("the address %s is not accepted for an API server", ip)
	}
	return nil
}

// newTransport makes a transport that belongs to one runtime alone. client-go's own would come from a process-wide cache, which keeps the
// connections of revoked credentials and offers no way to close them.
func newTransport(cfg *rest.Config, s *sockets) (*http.Transport, error) {
	tlsConfig, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return nil, err
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{}
	}
	tlsConfig.MinVersion = max(tlsConfig.MinVersion, tls.VersionTLS12)
	proxy := http.ProxyFromEnvironment
	if cfg.Proxy != nil {
		proxy = cfg.Proxy
	}
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           s.dial,
		TLSClientConfig:       tlsConfig,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: callTimeout,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   2,
		DisableCompression:    cfg.DisableCompression,
		ForceAttemptHTTP2:     true, // a dialer of one's own switches HTTP/2 off otherwise
		HTTP2: &http.HTTP2Config{
			SendPingTimeout:               pingAfter,
			PingTimeout:                   pingTimeout,
			WriteByteTimeout:              pingTimeout,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connectionWindow,
		},
	}, nil
}

// errTooLarge stands for an answer above maxBody.
var errTooLarge = errors.New("the API server's answer is larger than what is read")

// capped is a response body of limited length. A plain io.LimitReader would end it silently.
type capped struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.ReadCloser.Read(p)
	c.left -= int64(n)
	return n, err
}
