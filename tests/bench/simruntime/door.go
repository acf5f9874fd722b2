package simruntime

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// streamsAtATime is what API servers allow on one connection.
const streamsAtATime = 100

// door is where the connections of all runtimes come in, so that one http.Server serves them.
type door struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newDoor() *door { return &door{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	select {
	case conn := <-d.conns:
		return conn, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (d *door) Close() error { d.close(); return nil }

func (d *door) close() { d.once.Do(func() { close(d.done) }) }

// Addr implements net.Listener.
func (d *door) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

type runtimeKey struct{}

// serve starts the server.
func (f *Runtimes) serve() {
	f.server = &http.Server{
		Handler:           f,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       5 * time.Minute,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12,
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				conn, ok := hello.Conn.(*socket)
				if !ok {
					return nil, errors.New("a connection that no runtime accepted")
				}
				return conn.runtime.certificate()
			},
		},
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsAtATime},
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if secured, ok := conn.(*tls.Conn); ok {
				conn = secured.NetConn()
			}
			if own, ok := conn.(*socket); ok {
				return context.WithValue(ctx, runtimeKey{}, own.runtime)
			}
			return ctx
		},
		ErrorLog: log.New(logger(f.options.Logf), "", 0),
	}
	go func() {
		defer close(f.served)
		if err := f.server.ServeTLS(f.door, "", ""); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			f.options.Logf("the server of runtimes ended: %v", err)
		}
	}()
}

// logger hands on what the server logs, but for connections that ended while they were being made: runtimes die by intent here.
type logger func(format string, args ...any)

// Write implements io.Writer.
func (l logger) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("TLS handshake error")) {
		l("%s", bytes.TrimSpace(p))
	}
	return len(p), nil
}

// address returns where a runtime listens: a host of its own in the loopback network.
func address(i int) string {
	host := i + 1
	return fmt.Sprintf("127.100.%d.%d", host>>8, host&0xff)
}

// listen opens the runtime's door, at the port that it had before if there was one.
func (r *Runtime) listen() error {
	r.net.mu.Lock()
	defer r.net.mu.Unlock()
	if r.net.listener != nil || r.fleet.shared != nil {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", net.JoinHostPort(address(r.index), r.net.port))
	if err != nil {
		return err
	}
	_, r.net.port, err = net.SplitHostPort(listener.Addr().String())
	r.net.listener = listener
	go r.accept(listener)
	return err
}

// unlisten closes it: the kernel refuses from now on.
func (r *Runtime) unlisten() {
	r.net.mu.Lock()
	defer r.net.mu.Unlock()
	if r.net.listener != nil {
		_ = r.net.listener.Close()
		r.net.listener = nil
	}
}

// accept lets connections in until the listener is closed.
func (r *Runtime) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.fleet.options.Logf("%s cannot accept: %v", r.Name(), err)
			return
		}
		if !r.enter(conn) {
			return
		}
	}
}

// enter lets a connection in; false when the fleet ends.
func (r *Runtime) enter(conn net.Conn) bool {
	r.counter.dials.Add(1)
	made := r.newSocket(conn)
	if down := Down(r.net.down.Load()); down == Reset || down == Refuse {
		made.abort()
		return true
	}
	select {
	case r.fleet.door.conns <- made:
		return true
	case <-r.fleet.door.done:
		made.abort()
		return false
	}
}
