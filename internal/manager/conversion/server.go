package conversion

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"
)

const (
	headerTimeout = 10 * time.Second
	// readTimeout is longer than the 30 seconds that an API server waits for an answer.
	readTimeout = 40 * time.Second
	idleTimeout = 90 * time.Second
	// gracePeriod is how long responses may continue after a shutdown was requested.
	gracePeriod    = 10 * time.Second
	maxHeader      = 32 << 10
	maxConnections = 256
)

var errNoCertificate = errors.New("the certificate is not there yet")

// serve serves on the listener until the context ends, and then lets responses that have begun finish.
func (w *Webhook) serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: readTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(&complaints{log: w.Log}, "", 0),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: w.certificate},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(netutil.LimitListener(listener, maxConnections), "", "") }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), gracePeriod)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return server.Close()
	}
	return nil
}

func (w *Webhook) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if serving := w.serving.Load(); serving != nil {
		return serving, nil
	}
	return nil, errNoCertificate
}

// complaints receives the log of net/http: a panic is logged as an error, the rest (port scanners, clients without our CA) only at a higher
// verbosity.
type complaints struct{ log logr.Logger }

// Write logs one line.
func (c *complaints) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.HasPrefix(line, []byte("http: panic")) || bytes.HasPrefix(line, []byte("http2: panic")) {
		c.log.Error(errors.New(text), "Converting crashed")
	} else {
		c.log.V(1).Info("HTTP", "says", text)
	}
	return len(line), nil
}
