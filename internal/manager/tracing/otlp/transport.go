package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// mostAnswer bounds what is read of an answer; one that says that all is well is empty.
const mostAnswer = 64 << 10

// transport speaks to the collector, and remembers the status of its last answer.
type transport struct {
	*http.Transport
	status atomic.Int64
}

func newTransport(config *tls.Config) *transport {
	return &transport{Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: longestSend / 2}).DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    longestSend / 2,
		MaxResponseHeaderBytes: mostAnswer,
		MaxIdleConns:           1,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.status.Store(int64(resp.StatusCode))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, mostAnswer), resp.Body}
	return resp, nil
}

// clientOf returns a client that follows no redirect, which would carry spans and headers elsewhere.
func clientOf(to http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: to, Timeout: longestSend,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// tlsFrom reads the certificates that the environment variables of OpenTelemetry name.
func tlsFrom(env func(string) string, read func(string) ([]byte, error)) (*tls.Config, error) {
	setting := func(name string) string {
		return cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_"+name), env("OTEL_EXPORTER_OTLP_"+name))
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := setting("CERTIFICATE"); file != "" {
		pem, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("read the CA of the collector: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the CA of the collector, %s, has no certificate", file)
		}
	}
	certificate, key := setting("CLIENT_CERTIFICATE"), setting("CLIENT_KEY")
	if certificate == "" || key == "" {
		return config, nil
	}
	chain, err := read(certificate)
	if err != nil {
		return nil, fmt.Errorf("read the client certificate for the collector: %w", err)
	}
	secret, err := read(key)
	if err != nil {
		return nil, fmt.Errorf("read the client key for the collector: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fmt.Errorf("the client certificate for the collector: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
