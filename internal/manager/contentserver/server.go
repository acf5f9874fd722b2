package contentserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	// writeTimeout is enough for the largest content over a slow line.
	writeTimeout = 5 * time.Minute
	idleTimeout  = 90 * time.Second
	// gracePeriod is how long responses may continue after a shutdown was requested.
	gracePeriod    = 10 * time.Second
	maxHeader      = 32 << 10
	maxConnections = 256
)

// Server serves content over HTTPS. It is a Runnable of every replica.
type Server struct {
	// Addr is the address to listen on, such as ":8443".
	Addr string
	// CertDir holds tls.crt and tls.key, which may be replaced while the server runs. Empty means a self-signed certificate, which clients
	// cannot verify.
	CertDir string
	// Tokens and Access create reviews at the hub's API server.
	Tokens TokenReviews
	Access AccessReviews
	// Contents returns the content to serve.
	Contents Contents
	Log      logr.Logger
	// Listening is called with the address once it is open, for tests that listen on port 0; may be nil.
	Listening func(net.Addr)

	reread time.Duration // for tests; rereadEvery where it is not set
}

// NeedLeaderElection returns false: every replica serves.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until the context ends, and then lets responses that have begun finish.
func (s *Server) Start(ctx context.Context) error {
	if err := s.serve(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("content server: %w", err)
	}
	return nil
}

func (s *Server) serve(ctx context.Context) error {
	certificate, follow, err := s.certificates()
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return err
	}
	if s.Listening != nil {
		s.Listening(listener.Addr())
	}
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       log.New(&complaints{log: s.Log}, "", 0),
	}
	open := tls.NewListener(netutil.LimitListener(listener, maxConnections), &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: certificate,
		// HTTP/2 has no benefit for a few large responses, and one connection could make thousands of requests at once.
		NextProtos: []string{"http/1.1"},
	})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return follow(ctx) })
	group.Go(func() error { return server.Serve(open) })
	group.Go(func() error { return end(ctx, server) })
	return group.Wait()
}

// end waits for the context to end and shuts down the server, gracefully at first, and then at once.
func end(ctx context.Context, server *http.Server) error {
	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), gracePeriod)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return server.Close()
	}
	return nil
}

// complaints receives the log of net/http: a panic is logged as an error, and the rest (clients that do not trust the certificate, port
// scanners) only at a higher verbosity, since it would be a line for every connection.
type complaints struct{ log logr.Logger }

// Write logs one line.
func (c *complaints) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.HasPrefix(line, []byte("http: panic")) {
		c.log.Error(errors.New(text), "Serving content crashed")
	} else {
		c.log.V(1).Info("HTTP", "says", text)
	}
	return len(line), nil
}
