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
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	// writeTimeout is enough for the largest content over a slow line.
	writeTimeout = 5 * time.Minute
	idleTimeout  = 90 * time.Second
	// gracePeriod is how long answers may go on after the end was asked for.
	gracePeriod    = 10 * time.Second
	maxHeader      = 32 << 10
	maxConnections = 256
	// selfSigned is longer than any process lives: nobody can verify that certificate, and so nobody needs it to expire.
	selfSigned = 10 * 365 * 24 * time.Hour
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
	certificate, watch, err := s.certificates()
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
	group.Go(func() error { return watch(ctx) })
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

type getCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// certificates gives the certificate that holds, and what has to run so that it follows its files.
func (s *Server) certificates() (get getCertificate, watch func(context.Context) error, err error) {
	if s.CertDir == "" {
		get, err = ownCertificate()
		return get, func(context.Context) error { return nil }, err
	}
	watcher, err := certwatcher.New(filepath.Join(s.CertDir, "tls.crt"), filepath.Join(s.CertDir, "tls.key"))
	if err != nil {
		return nil, nil, fmt.Errorf("read tls.crt and tls.key in %s: %w", s.CertDir, err)
	}
	return watcher.GetCertificate, watcher.Start, nil
}

func ownCertificate() (getCertificate, error) {
	cert, key, err := certutil.GenerateSelfSignedCertKeyWithOptions(certutil.SelfSignedCertKeyOptions{
		Host: "localhost", AlternateIPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, MaxAge: selfSigned,
	})
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }, nil
}

// complaints takes what net/http logs: a crash is an error, and the rest (clients that do not trust the certificate, port scanners)
// would be a line for every connection that anybody opens.
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
