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
	// gracePeriod is how long answers may continue after the end was requested.
	gracePeriod    = 10 * time.Second
	maxHeader      = 32 << 10
	maxConnections = 256
)

var errNoCertificate = errors.New("the certificate is not there yet")

// serve answers on the listener until the context ends, and then lets answers that have begun come to their end.
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

// complaints takes what net/http logs: a crash is an error, the rest (port scanners, clients without our CA) is for those who look closer.
type complaints struct{ log logr.Logger }

// Write takes one line.
func (c *complaints) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.HasPrefix(line, []byte("http: panic")) || bytes.HasPrefix(line, []byte("http2: panic")) {
		c.log.Error(errors.New(text), "Converting crashed")
	} else {
		c.log.V(1).Info("HTTP", "says", text)
	}
	return len(line), nil
}
