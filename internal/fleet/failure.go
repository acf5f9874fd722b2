package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// unanswered says that no connection was made at all, so that every other call would fail as well. A connection that broke or a call
// that took too long proves less: a probe decides then.
func unanswered(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &dns), strings.Contains(err.Error(), "TLS handshake timeout"): // net/http has no type for it
		return true
	case errors.As(err, &op):
		return op.Op == "dial" || op.Op == "proxyconnect"
	}
	return distrusted(err)
}

// fallenSilent makes the error of a connection on which the server does not even answer a ping look like that of a failed dial: every
// other call would wait as long. net/http has no type for it, and client-go would ask again ten times if it saw it.
func fallenSilent(err error) error {
	if strings.Contains(err.Error(), "http2: client connection lost") {
		return &net.OpError{Op: "dial", Net: "tcp", Err: errSilent}
	}
	return err
}

// slow says that it took a while to find out that nobody answers.
func slow(err error) bool {
	timedOut, ok := errors.AsType[net.Error](err)
	return ok && timedOut.Timeout() || errors.Is(err, errSilent)
}

// distrusted says that we do not accept the server's certificate.
func distrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// rejected says that the server does not accept our client certificate: TLS tells it in an alert instead of a 401. Alerts about the version
// or the ciphers concern the server itself.
func rejected(err error) bool {
	if text := err.Error(); strings.Contains(text, "protocol version") || strings.Contains(text, "handshake failure") {
		return false
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// problemOf names what a failed probe or call means for its runtime.
func problemOf(t Target, err error) *Problem {
	switch {
	case apierrors.IsUnauthorized(err), rejected(err):
		return &Problem{
			Reason: v1beta2.ReasonRuntimeUnauthorized, Err: err,
			Message: fmt.Sprintf("the %s refuses the credentials: %s; renew them in the access Secret", t, cause(err)),
		}
	case t.Local && apierrors.IsForbidden(err):
		return &Problem{
			Reason: v1beta2.ReasonLocalAccessMissing, Err: err,
			Message: fmt.Sprintf("the operator may not act as service account %s in the hub: %s; install the component \"local\"",
				t.ServiceAccount, cause(err)),
		}
	case distrusted(err):
		return &Problem{
			Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
			Message: fmt.Sprintf("the server certificate of the %s is not trusted: %s; correct the access Secret", t, cause(err)),
		}
	}
	return &Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("the API server of the %s does not answer: %s", t, cause(err)),
	}
}

// cause is an error's text for a condition: without the request's URL and the local port, which would change the text at every attempt
// and cost a status write each, and never longer than a person reads, whatever a server wrote into it.
func cause(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	var op *net.OpError
	text := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		text = "no answer in time"
	case errors.As(err, &op) && op.Addr != nil:
		text = fmt.Sprintf("%s %s: %v", op.Op, op.Addr, op.Err)
	}
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// statusError makes an API error of an answer that is none of the successful ones.
func statusError(resp *http.Response, verb, path string) error {
	status := readStatus(resp.Body)
	if status == nil {
		resource := schema.GroupResource{Resource: strings.TrimPrefix(path, "/")}
		return apierrors.NewGenericServerResponse(resp.StatusCode, verb, resource, "", "", retryAfter(resp), true)
	}
	return &apierrors.StatusError{ErrStatus: *status}
}
