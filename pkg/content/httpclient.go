package content

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

const (
	maxAddress = 2048
	userAgent  = "kyma-lifecycle-manager"
)

// web sends the requests of the sources that use plain HTTP servers. It is made for one call of a source and keeps no connection.
type web struct {
	// origin is the only place that credentials are sent to.
	origin             *url.URL
	username, password string
	allowPlain         bool
	client             *http.Client
}

// webOptions are the options that the HTTP sources have in common.
type webOptions struct {
	username, password string
	ca                 []byte
	allowPlain         bool
	timeout            time.Duration
}

func newWeb(origin *url.URL, options webOptions) (*web, error) {
	transport, err := NewTransport(options.ca)
	if err != nil {
		return nil, err
	}
	made := &web{origin: origin, username: options.username, password: options.password, allowPlain: options.allowPlain}
	made.client = &http.Client{Transport: transport, Timeout: orDefaultTimeout(options.timeout), CheckRedirect: made.redirect}
	return made, nil
}

// NewTransport returns a transport for the requests of one call of a Source: it keeps no connection, obeys WithDialControl, and trusts the
// PEM certificates in ca in addition to those of the system.
func NewTransport(ca []byte) (*http.Transport, error) {
	transport := &http.Transport{
		Proxy:                 proxy,
		DialContext:           Dial,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   DialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		DisableKeepAlives:     true,
	}
	if len(ca) == 0 {
		return transport, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(ca) {
		return nil, sourceInvalid("the CA bundle holds no certificate: it must be PEM text with at least one CERTIFICATE block")
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return transport, nil
}

func orDefaultTimeout(timeout time.Duration) time.Duration {
	if timeout > 0 {
		return timeout
	}
	return DefaultTimeout
}

// redirect follows a few redirects, but none from https to http, and drops the credentials once one leads to another origin. Go's client
// drops them only for other domains, and would send them to a subdomain or to another port.
func (w *web) redirect(next *http.Request, via []*http.Request) error {
	if err := checkRedirect(next, via); err != nil {
		return err
	}
	if err := w.accept(next.URL); err != nil {
		return fmt.Errorf("redirect that is not followed: %w", err)
	}
	for _, hop := range append(via[1:len(via):len(via)], next) {
		if !sameOrigin(w.origin, hop.URL) {
			next.Header.Del("Authorization")
			next.Header.Del("Referer")
		}
	}
	return nil
}

// accept checks every address that is requested, wherever it comes from.
func (w *web) accept(address *url.URL) error {
	switch {
	case address.Scheme == "https", address.Scheme == "http" && w.allowPlain:
		return nil
	case address.Scheme == "oci":
		return sourceInvalid("%s is in an OCI registry, not behind HTTP: name it as an OCI chart", DisplayURL(address))
	default:
		return sourceInvalid("%s: scheme %q is not accepted; use https", DisplayURL(address), address.Scheme)
	}
}

// get requests address. The status of the response is 200 and the caller must close its body, or the error is an *Error.
func (w *web) get(ctx context.Context, address *url.URL) (*http.Response, error) {
	if err := w.accept(address); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, sourceInvalid("%s is no address that can be requested", DisplayURL(address))
	}
	// Requesting identity keeps the transport from unpacking bytes whose digest will be verified.
	request.Header = http.Header{"User-Agent": {userAgent}, "Accept-Encoding": {"identity"}}
	if (w.username != "" || w.password != "") && sameOrigin(w.origin, address) {
		request.SetBasicAuth(w.username, w.password)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, webError(address, err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, webRefused(address, response)
	}
	return response, nil
}

// download stores what address serves under digest, if it matches digest.
func (w *web) download(ctx context.Context, store *Store, digest string, address *url.URL) (string, error) {
	response, err := w.get(ctx, address)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body := &watched{Reader: response.Body}
	path, err := store.Put(digest, response.ContentLength, body)
	switch {
	case body.err != nil:
		return "", webError(address, fmt.Errorf("the answer broke off: %w", body.err))
	case err != nil:
		return "", fmt.Errorf("fetch %s: %w", DisplayURL(address), err)
	}
	return path, nil
}

// webError gives a network error its reason; a cancellation by the caller stays as it is.
func webError(address *url.URL, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed
	}
	return &Error{
		Reason: ReasonRegistryUnreachable,
		Err:    fmt.Errorf("fetch %s: the server cannot be used now: %w", DisplayURL(address), WithoutAddresses(err)),
	}
}

func webRefused(address *url.URL, response *http.Response) error {
	failed := &Error{
		Reason: reasonOfStatus(response.StatusCode),
		Err: fmt.Errorf("fetch %s: %s answers with %d %s", DisplayURL(address), response.Request.URL.Host, response.StatusCode,
			http.StatusText(response.StatusCode)),
	}
	switch failed.Reason {
	case ReasonRegistryUnauthorized:
		failed.Err = fmt.Errorf("%w: check the credentials", failed.Err)
	case ReasonRegistryUnreachable:
		failed.RetryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return failed
}

// webAddress parses a user's URL. Credentials have separate fields, so that no displayed address contains them.
func webAddress(text string) (*url.URL, error) {
	if len(text) > maxAddress || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return nil, sourceInvalid("the URL is longer than %d characters, or has spaces or unprintable characters", maxAddress)
	}
	address, err := url.Parse(text)
	switch {
	case err != nil:
		// The parser's error repeats the text, which may contain a password.
		return nil, sourceInvalid("the URL cannot be read: write it as https://host/path")
	case address.User != nil:
		return nil, sourceInvalid("%s: credentials do not belong in the URL; give them beside it", DisplayURL(address))
	case address.Host == "" || address.Opaque != "":
		return nil, sourceInvalid("URL %q names no host: write it as https://host/path", address.Redacted())
	}
	return address, nil
}

// DisplayURL returns an address for messages, without user and the query, which is a secret in a signed address.
func DisplayURL(address *url.URL) string {
	return (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String()
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(address *url.URL) string {
	if port := address.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[address.Scheme]
}
