package content

import (
	"net/http"
	"strings"
)

// LoginTransport returns a transport that refuses to send a login over HTTP, except to hosts that plain accepts. It checks every request,
// including those to the token service that a registry names.
func LoginTransport(base http.RoundTripper, plain func(host string) bool) http.RoundTripper {
	return loginTransport{base, plain}
}

type loginTransport struct {
	http.RoundTripper

	plain func(host string) bool
}

// RoundTrip sends the request, or refuses it.
func (t loginTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	host := strings.ToLower(request.URL.Host)
	if request.URL.Scheme == "https" || !carriesLogin(request) || t.plain(host) {
		return t.RoundTripper.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close() // which a RoundTripper must do; nothing was written
	}
	return nil, unauthorized("%s is spoken to without TLS, and a login is not sent in the clear: have it speak TLS, or name it with "+
		"plainHTTP in the registries file", host)
}

// CloseIdleConnections closes the idle connections of the underlying transport.
func (t loginTransport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// carriesLogin reports whether a request has a login in its header, or in its body as token requests do.
func carriesLogin(request *http.Request) bool {
	return request.Header.Get("Authorization") != "" ||
		strings.HasPrefix(request.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
}
