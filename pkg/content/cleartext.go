package content

import (
	"net/http"
	"strings"
)

// LoginTransport is base without the requests that would send a login in the clear: by http, to a host that plain does not accept that for.
// It looks at every request, so also at those to the token service that a registry names.
func LoginTransport(base http.RoundTripper, plain func(host string) bool) http.RoundTripper {
	return loginTransport{base, plain}
}

type loginTransport struct {
	http.RoundTripper

	plain func(host string) bool
}

// RoundTrip does the request, or refuses it.
func (t loginTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	host := strings.ToLower(request.URL.Host)
	if request.URL.Scheme == "https" || !carriesLogin(request) || t.plain(host) {
		return t.RoundTripper.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close() // which a RoundTripper has to do; nothing was written
	}
	return nil, unauthorized("%s is spoken to without TLS, and a login is not sent in the clear: have it speak TLS, or name it with "+
		"plainHTTP in the registries file", host)
}

// CloseIdleConnections lets a client close connections that are not in use.
func (t loginTransport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// carriesLogin tells whether a request has a login in its header, or in its body as requests for a token have it.
func carriesLogin(request *http.Request) bool {
	return request.Header.Get("Authorization") != "" ||
		strings.HasPrefix(request.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
}
