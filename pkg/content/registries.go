package content

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

const (
	// DefaultTimeout limits one request to a registry, including its body.
	DefaultTimeout = 2 * time.Minute

	// DialTimeout limits the time until a connection is open.
	DialTimeout = 10 * time.Second

	headerTimeout = 30 * time.Second
	idleTimeout   = 90 * time.Second
	maxRedirects  = 5
	// maxAnswer is how much of a registry's error text is kept: it ends up in the status of an object.
	maxAnswer = 200
)

// Registries configures requests to registries. The zero value uses HTTPS without credentials.
type Registries struct {
	// PlainHTTP reports whether a host (host[:port]) is accessed without TLS; nil means that none is.
	PlainHTTP func(host string) bool
	// Credentials returns the login for a host (host[:port]); nil, or the empty credential, means anonymous.
	Credentials func(ctx context.Context, host string) (auth.Credential, error)
	// PlainLogins reports whether a host gets its login although it is accessed without TLS; nil means that all such hosts do. It is for
	// callers that learn from an untrusted source that there is no TLS.
	PlainLogins func(host string) bool
	// Transport sends the requests; nil means the result of the function Transport.
	Transport http.RoundTripper
	// Timeout limits one request, including its body; 0 means DefaultTimeout.
	Timeout time.Duration
	// Policy returns the settings of a host (host[:port]); nil means no special settings. It is called for every request, so that a change
	// takes effect with the next one.
	Policy func(host string) HostPolicy
}

// Client returns an HTTP client that logs in on request, with the credentials of that host only: it follows a redirect to another host
// without them, and refuses one from https to http. It keeps tokens, so make one and keep it.
func (r Registries) Client() *auth.Client {
	transport := r.Transport
	if transport == nil {
		transport = Transport()
	}
	return &auth.Client{
		Client: &http.Client{
			Transport: LoginTransport(HostTransport(transport, r.Policy), r.plainLogin), Timeout: r.timeout(), CheckRedirect: checkRedirect,
		},
		// Requesting identity keeps a transport from unpacking bytes whose digest will be verified.
		Header:     http.Header{"User-Agent": {"kyma-lifecycle-manager"}, "Accept-Encoding": {"identity"}},
		Credential: r.credential,
		Cache:      auth.NewCache(),
	}
}

// plainLogin reports whether a login may be sent to a host without TLS.
func (r Registries) plainLogin(host string) bool {
	if r.PlainLogins != nil {
		return r.PlainLogins(host)
	}
	return r.plain(host)
}

// plain reports whether a host is accessed without TLS.
func (r Registries) plain(host string) bool {
	return r.policy(host).PlainHTTP || r.PlainHTTP != nil && r.PlainHTTP(host)
}

func (r Registries) timeout() time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return DefaultTimeout
}

// credential marks errors of credentials, so that they are recognizable after they went through the client.
func (r Registries) credential(ctx context.Context, host string) (auth.Credential, error) {
	if r.Credentials == nil {
		return auth.EmptyCredential, nil
	}
	found, err := r.Credentials(ctx, host)
	if err != nil {
		return auth.EmptyCredential, unauthorized("find the credentials for registry %s: %w", host, err)
	}
	if found.RefreshToken == "" && found.AccessToken == "" && (found.Username == "") != (found.Password == "") {
		return auth.EmptyCredential, unauthorized("the credentials for registry %s have a user name or a password, and need both", host)
	}
	return found, nil
}

// checkRedirect is called after the client has removed the credentials from a request that goes to another host.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return fmt.Errorf("redirect from https to %s, which is not followed", next.URL.Scheme)
	}
	return nil
}

// RegistryError returns an error of a request to a registry its reason. It returns nil for nil, a cancellation by the caller unchanged, and
// an *Error with its reason. It keeps only the host of addresses: a registry chooses where it redirects to and which token service it
// names, and may have put the login that it was sent into both.
func RegistryError(err error) error {
	var typed *Error
	var answer *errcode.ErrorResponse
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &typed):
		return &Error{Reason: typed.Reason, Err: WithoutAddresses(err), RetryAfter: typed.RetryAfter}
	case errors.Is(err, errdef.ErrNotFound):
		return &Error{Reason: ReasonContentNotFound, Err: err}
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return unauthorized("the registry requires credentials, and there are none for it: %w", err)
	case errors.As(err, &answer):
		return &Error{Reason: reasonOfStatus(answer.StatusCode), Err: WithoutAddresses(err)}
	default:
		return &Error{Reason: ReasonRegistryUnreachable, Err: fmt.Errorf("the registry cannot be used now: %w", WithoutAddresses(err))}
	}
}

func reasonOfStatus(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ReasonRegistryUnauthorized
	case http.StatusNotFound, http.StatusGone:
		return ReasonContentNotFound
	default:
		return ReasonRegistryUnreachable
	}
}

// answerText returns a registry's error text, shortened and without control characters, because it is untrusted.
func answerText(answer *errcode.ErrorResponse) string {
	said := http.StatusText(answer.StatusCode)
	if len(answer.Errors) > 0 {
		said = answer.Errors.Error()
	}
	said = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, said)
	if runes := []rune(said); len(runes) > maxAnswer {
		said = string(runes[:maxAnswer]) + "..."
	}
	return fmt.Sprintf("%s answers %s with %d: %s", answer.URL.Host, answer.Method, answer.StatusCode, said)
}

// WithoutAddresses returns an error of the HTTP client, or of a registry's response, with hosts instead of addresses: the path and the
// query of a redirect or of a token service may contain a secret. It returns any other error unchanged.
func WithoutAddresses(err error) error {
	var failed *url.Error
	var answer *errcode.ErrorResponse
	switch {
	case errors.As(err, &failed):
		cause := WithoutAddresses(failed.Err)
		address, parseErr := url.Parse(failed.URL)
		if parseErr != nil {
			return cause
		}
		return fmt.Errorf("%s %s: %w", strings.ToUpper(failed.Op), address.Host, cause)
	case errors.As(err, &answer):
		return &answerError{answer}
	default:
		return err
	}
}

// answerError is an error response of a registry without its address.
type answerError struct{ *errcode.ErrorResponse }

// Error returns the registry's text and its host.
func (e *answerError) Error() string { return answerText(e.ErrorResponse) }

// Unwrap returns the response.
func (e *answerError) Unwrap() error { return e.ErrorResponse }

func unauthorized(format string, args ...any) error {
	return &Error{Reason: ReasonRegistryUnauthorized, Err: fmt.Errorf(format, args...)}
}
