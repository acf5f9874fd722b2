package content

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// DialControl looks at an address before it is dialled, after names were resolved; its error refuses the address. It is a
// net.Dialer's ControlContext.
type DialControl func(ctx context.Context, network, address string, c syscall.RawConn) error

type dialControlKey struct{}

// WithDialControl lets every connection to a web server, a registry or a git server that is opened under the context be looked at first:
// for a program that fetches on behalf of people who must not reach every address that the program can reach. No proxy is used then, since
// it would reach what may not be reached, and no connection is used again that was opened for somebody else.
func WithDialControl(ctx context.Context, control DialControl) context.Context {
	return context.WithValue(ctx, dialControlKey{}, control)
}

// dialControl is what looks at the addresses that are dialled under a context; nil when nothing does.
func dialControl(ctx context.Context) DialControl {
	control, _ := ctx.Value(dialControlKey{}).(DialControl)
	return control
}

// dial opens connections for all sources.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, ControlContext: dialControl(ctx)}
	return dialer.DialContext(ctx, network, address)
}

// environmentProxy is the proxy that the environment names.
var environmentProxy = http.ProxyFromEnvironment

// proxy is the one for a request: none where addresses are looked at, because a proxy's would be the only one that is.
func proxy(request *http.Request) (*url.URL, error) {
	if dialControl(request.Context()) != nil {
		return nil, nil //nolint:nilnil // that is how a transport is told to use none
	}
	return environmentProxy(request)
}

// Transport carries the requests of all clients that bring no transport of their own, so that they share connections. Requests under
// WithDialControl share none.
func Transport() http.RoundTripper { return byContext{} }

// byContext chooses the transport by the context of a request.
type byContext struct{}

// RoundTrip implements http.RoundTripper.
func (b byContext) RoundTrip(request *http.Request) (*http.Response, error) {
	return b.of(request).RoundTrip(request)
}

func (byContext) of(request *http.Request) *http.Transport {
	if dialControl(request.Context()) != nil {
		return looked
	}
	return ours
}

var ours, looked = newTransport(false), newTransport(true)

// newTransport has bounded dial, handshake and header times. alone keeps no connection for another request.
func newTransport(alone bool) *http.Transport {
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           dial,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		IdleConnTimeout:       idleTimeout,
		DisableKeepAlives:     alone,
	}
}
