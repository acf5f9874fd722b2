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
	// gracePeriod is how long answers may continue after the end was requested.
	gracePeriod    = 10 * time.Second
	maxHeader      = 32 << 10
	maxConnections = 256
)

// Server serves content over HTTPS. It is a Runnable of every replica.
type Server struct {
	// Addr is where to listen, such as ":8443".
	Addr string
	// CertDir holds tls.crt and tls.key, which may be replaced while the server runs. Empty means a certificate of its own, which
	// clients cannot verify.
	CertDir string
	// Tokens and Access ask the hub's API server.
	Tokens TokenReviews
	Access AccessReviews
	// Contents gives what is served.
	Contents Contents
	Log      logr.Logger
	// Listening is told the address once it is open, which tests want that listen on port 0; may be nil.
	Listening func(net.Addr)

	reread time.Duration // for tests; rereadEvery where it is not set
}

// NeedLeaderElection says no: every replica serves.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until the context ends, and then lets answers that have begun come to their end.
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
		// HTTP/2 gains nothing for a few large answers, and one connection could ask for thousands at once.
		NextProtos: []string{"http/1.1"},
	})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return follow(ctx) })
	group.Go(func() error { return server.Serve(open) })
	group.Go(func() error { return end(ctx, server) })
	return group.Wait()
}

// end waits for the context and ends the server: gently at first, and then at once.
func end(ctx context.Context, server *http.Server) error {
	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), gracePeriod)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return server.Close()
	}
	return nil
}

// complaints takes what net/http logs: a crash is an error, and the rest (clients that do not trust the certificate, port scanners)
// would be a line for every connection.
type complaints struct{ log logr.Logger }

// Write takes one line.
func (c *complaints) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.HasPrefix(line, []byte("http: panic")) {
		c.log.Error(errors.New(text), "Serving content crashed")
	} else {
		c.log.V(1).Info("HTTP", "says", text)
	}
	return len(line), nil
}
