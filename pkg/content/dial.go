package content

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// DialControl checks an address before it is dialled, after name resolution; an error refuses the address. It is a net.Dialer's
// ControlContext.
type DialControl func(ctx context.Context, network, address string, c syscall.RawConn) error

type dialControlKey struct{}

// WithDialControl returns a context in which control checks every connection to a web server, a registry or a git server: for a program
// that fetches on behalf of users who must not reach every address that the program can reach. Such connections use no proxy, since it
// could reach refused addresses, and are never reused ones that other callers opened.
func WithDialControl(ctx context.Context, control DialControl) context.Context {
	return context.WithValue(ctx, dialControlKey{}, control)
}

// dialControl returns the DialControl of a context; nil if there is none.
func dialControl(ctx context.Context) DialControl {
	control, _ := ctx.Value(dialControlKey{}).(DialControl)
	return control
}

// Dial opens a connection for a Source. It obeys WithDialControl.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: DialTimeout, ControlContext: dialControl(ctx)}
	return dialer.DialContext(ctx, network, address)
}

// environmentProxy returns the proxy that the environment configures.
var environmentProxy = http.ProxyFromEnvironment

// proxy returns the proxy of a request: none under a DialControl, which would see only the proxy's address.
func proxy(request *http.Request) (*url.URL, error) {
	if dialControl(request.Context()) != nil {
		return nil, nil //nolint:nilnil // that is how a transport is told to use none
	}
	return environmentProxy(request)
}

// Transport returns the shared transport, which clients without their own transport use, so that they share connections. Requests under
// WithDialControl share none.
func Transport() http.RoundTripper { return byContext{} }

// byContext chooses the transport by the context of the request.
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

// newTransport returns a transport with limits on the time for dial, handshake and headers. With alone it does not reuse connections.
func newTransport(alone bool) *http.Transport {
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           Dial,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   DialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		IdleConnTimeout:       idleTimeout,
		DisableKeepAlives:     alone,
	}
}
