package clustercache

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
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// isConnectFailure reports whether no connection was made at all, so that every other call would fail as well. A connection that broke or a
// call that took too long proves less: a probe decides then.
func isConnectFailure(err error) bool {
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
	return isUntrustedCertificate(err)
}

// asDialError turns the error of a connection whose server does not even respond to a ping into that of a failed dial: every
// other call would wait as long. net/http has no type for it, and client-go would retry it ten times.
func asDialError(err error) error {
	if strings.Contains(err.Error(), "http2: client connection lost") {
		return &net.OpError{Op: "dial", Net: "tcp", Err: h2stream.ErrSilent}
	}
	return err
}

// isTimeout reports whether the lack of a response was noticed only after a timeout.
func isTimeout(err error) bool {
	timedOut, ok := errors.AsType[net.Error](err)
	return ok && timedOut.Timeout() || errors.Is(err, h2stream.ErrSilent)
}

// isUntrustedCertificate reports whether we do not accept the server's certificate.
func isUntrustedCertificate(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// isRejectedClientCertificate reports whether the server does not accept our client certificate: TLS sends an alert instead of a 401.
// Alerts about the protocol version or the ciphers concern the server itself.
func isRejectedClientCertificate(err error) bool {
	if text := err.Error(); strings.Contains(text, "protocol version") || strings.Contains(text, "handshake failure") {
		return false
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// problemOf maps the error of a failed probe or call to a Problem of its runtime.
func problemOf(t Target, err error) *runtimes.Problem {
	switch {
	case apierrors.IsUnauthorized(err), isRejectedClientCertificate(err):
		return &runtimes.Problem{
			Reason: v1beta2.ReasonRuntimeUnauthorized, Err: err,
			Message: fmt.Sprintf("the %s refuses the credentials: %s; renew them in the access Secret", t, cause(err)),
		}
	case t.Local && apierrors.IsForbidden(err):
		return &runtimes.Problem{
			Reason: v1beta2.ReasonLocalAccessMissing, Err: err,
			Message: fmt.Sprintf("the operator may not act as service account %s in the hub: %s; install the component \"local\"",
				t.ServiceAccount, cause(err)),
		}
	case isUntrustedCertificate(err):
		return &runtimes.Problem{
			Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
			Message: fmt.Sprintf("the server certificate of the %s is not trusted: %s; correct the access Secret", t, cause(err)),
		}
	}
	return &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("the API server of the %s does not answer: %s", t, cause(err)),
	}
}

// cause returns an error's text for a condition: without the request's URL and the local port, which would change the text at every attempt
// and cost a status write each, and of limited length, whatever a server wrote into it.
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

// statusError makes an API error of an unsuccessful response.
func statusError(resp *http.Response, verb, path string) error {
	status := wire.ReadStatus(resp.Body)
	if status == nil {
		resource := schema.GroupResource{Resource: strings.TrimPrefix(path, "/")}
		return apierrors.NewGenericServerResponse(resp.StatusCode, verb, resource, "", "", wire.RetryAfter(resp), true)
	}
	return &apierrors.StatusError{ErrStatus: *status}
}
