package runtimeaccess

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/egress"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

const (
	// dialTimeout is how long a runtime may take to accept a connection.
	dialTimeout = 10 * time.Second
	// pingAfter is how long a connection may be silent before a ping checks whether it is alive.
	pingAfter = 15 * time.Second
)

// bounds limit what a runtime may cost. Its server is any that an access Secret names.
type bounds struct {
	// answer is how long a response may take, including its body; a watch, and a log that is followed, end when their reader does.
	answer time.Duration
	// body is how many bytes a response may have.
	body int64
	// shared means that this program serves several users: they must not reach its own machine or the services of its cloud.
	shared bool
}

type boundsKey struct{}

func boundsOf(ctx context.Context) bounds {
	if own, is := ctx.Value(boundsKey{}).(bounds); is {
		return own
	}
	return bounds{answer: 30 * time.Second, body: 32 << 20}
}

// Shared returns a context for a program that reaches runtimes on behalf of remote users. Loopback addresses and the metadata services of
// clouds are then refused, and no proxy is used, since a proxy could reach them. Private addresses are allowed, since runtimes have such
// addresses.
func Shared(ctx context.Context) context.Context {
	own := boundsOf(ctx)
	own.shared = true
	return context.WithValue(ctx, boundsKey{}, own)
}

// refused returns the class of addresses that are not dialled: those that no runtime has, and in a shared program also those of its own
// machine.
func (b bounds) refused() egress.Class {
	if b.shared {
		return egress.Loopback
	}
	return egress.Never
}

// secure gives the connection a transport of its own. client-go keeps its transports, and the credentials in them, for as long as the
// process lives; this one ends with its last user.
func secure(config *rest.Config, within bounds) error {
	trust, err := rest.TLSConfigFor(config)
	if err != nil {
		return err
	}
	if trust == nil {
		trust = &tls.Config{}
	}
	trust.MinVersion = max(trust.MinVersion, tls.VersionTLS12)
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: kubeconfig.Refuse(within.refused())}
	proxy := http.ProxyFromEnvironment
	if within.shared {
		proxy = nil
	}
	config.Transport = guarded{within, &http.Transport{
		Proxy: proxy, DialContext: dialer.DialContext, TLSClientConfig: trust, TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true, DisableCompression: config.DisableCompression,
		ResponseHeaderTimeout: within.answer, HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
	}}
	config.TLSClientConfig = rest.TLSClientConfig{}
	return nil
}

// guarded treats a redirect as an invalid response, since API servers send none. It distinguishes refused credentials of the access Secret
// from those of the user, so that no user's session ends because of them. It enforces the bounds on time and size, since not every client
// of a cluster sets a deadline.
type guarded struct {
	bounds
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, done := g.patience(request)
	answer, err := g.next.RoundTrip(request.WithContext(ctx))
	if err == nil {
		err = g.refused(answer)
	}
	if err != nil {
		err = inWords(ctx, err)
		done()
		return nil, err
	}
	left := g.body
	if isOpenEnded(request) {
		left = -1
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		answer.Body = &bounded{ReadCloser: answer.Body, ctx: ctx, done: done, left: left, most: g.body}
	}
	return answer, nil
}

// patience returns the context of a request. A watch, and a log that is followed, continue until their reader ends them.
func (g guarded) patience(request *http.Request) (context.Context, context.CancelFunc) {
	if isOpenEnded(request) {
		return context.WithCancel(request.Context())
	}
	late := unreachable("the server of the runtime did not answer within %s", g.answer)
	return context.WithTimeoutCause(request.Context(), g.answer, late)
}

// isOpenEnded reports whether a response has no end of its own: that of a watch, and that of a log that is followed.
func isOpenEnded(request *http.Request) bool {
	query := request.URL.Query()
	watch := query.Get("watch")
	follow := query.Get("follow") == "true" && strings.HasSuffix(request.URL.Path, "/log")
	return watch == "true" || watch == "1" || follow
}

// refused returns the error of an unacceptable response, and closes its body.
func (g guarded) refused(answer *http.Response) error {
	var err error
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		err = &Error{Reason: v1beta2.ReasonRuntimeUnauthorized, Message: "the runtime refuses the credentials of its access Secret: " +
			"renew them there"}
	case answer.StatusCode >= 300 && answer.StatusCode < 400 && answer.StatusCode != http.StatusNotModified:
		err = unreachable("the server of the runtime redirects to another address, which an API server does not: correct the access Secret")
	case answer.StatusCode >= 400 && !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/"):
		// Clients repeat such a text in their errors. An API server's own errors are objects.
		text := fmt.Sprintf("the server answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
		_ = answer.Body.Close()
		answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		answer.Header.Del("Content-Encoding")
		return nil
	}
	if err != nil {
		_ = answer.Body.Close() // the body is not reported
	}
	return err
}

// inWords returns an error of a connection. It replaces an error that may contain text from the server.
func inWords(ctx context.Context, err error) error {
	var network net.Error
	var authority x509.UnknownAuthorityError
	var verification *tls.CertificateVerificationError
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case ReasonOf(err) != "", errors.As(err, &network), errors.As(err, &authority), errors.As(err, &verification),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return err
	}
	return &Error{v1beta2.ReasonRuntimeUnreachable, "what the server of the runtime sends is no answer of an API server", err}
}

func unreachable(format string, args ...any) *Error {
	return &Error{Reason: v1beta2.ReasonRuntimeUnreachable, Message: fmt.Sprintf(format, args...)}
}

// bounded is a body with a deadline and a maximum length.
type bounded struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // that of the request
	done context.CancelFunc
	// left is how many of the most bytes may still follow; below 0 they are not counted.
	left, most int64
}

// Read implements io.Reader.
func (b *bounded) Read(into []byte) (int, error) {
	if b.left >= 0 && int64(len(into)) > b.left+1 {
		into = into[:b.left+1]
	}
	n, err := b.ReadCloser.Read(into)
	switch {
	case b.left >= 0 && int64(n) > b.left:
		n, b.left = int(b.left), 0
		return n, unreachable("the server of the runtime sends more than %d bytes at once, which is not read", b.most)
	case b.left >= 0:
		b.left -= int64(n)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = inWords(b.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
