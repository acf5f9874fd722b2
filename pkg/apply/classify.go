package apply

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Classify returns the class of a client's error, which determines how to react to it; "" for nil.
func Classify(err error) Class {
	var known *Error
	var unknownKind *UnknownKindError
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Class
	case errors.As(err, &unknownKind):
		return ClassKindUnknown
	case errors.As(err, &status):
		return classOfStatus(err, status.Status())
	case errors.Is(err, context.Canceled):
		return ClassCanceled
	case strings.Contains(err.Error(), "client rate limiter Wait"): // client-go has no type for it
		return ClassThrottled
	case unanswered(err):
		return ClassUnreachable
	}
	return ClassInternal
}

// classOfStatus classifies a response of the API server. Causes and details come before codes: an admission webhook may deny with any
// code it likes, and a terminating namespace is reported as Forbidden.
func classOfStatus(err error, status metav1.Status) Class {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ClassNamespaceTerminating
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return classOfBareCode(status.Code)
	case denied(status.Message) && status.Code < http.StatusInternalServerError:
		return ClassAdmissionDenied
	case undeclared(status.Message), oversized(status.Message):
		return ClassRefused
	case apierrors.IsForbidden(err) && overQuota(status.Message):
		return ClassQuotaExceeded
	case apierrors.IsInvalid(err) && changesImmutable(status.Details):
		return ClassFieldImmutable
	case apierrors.IsNotFound(err):
		return classOfNotFound(status.Details)
	}
	return classOfReason(err)
}

func classOfReason(err error) Class {
	switch {
	case apierrors.IsUnauthorized(err):
		return ClassUnauthorized
	case apierrors.IsForbidden(err):
		return ClassForbidden
	case apierrors.IsTooManyRequests(err):
		return ClassThrottled
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsGone(err), apierrors.IsResourceExpired(err):
		return ClassConflict
	case apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err):
		return ClassUnreachable
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsUnsupportedMediaType(err), apierrors.IsNotAcceptable(err):
		return ClassRefused
	}
	return ClassInternal
}

// classOfBareCode classifies a response without a Status: it comes from the API server's HTTP layer or from a proxy in front of it.
func classOfBareCode(code int32) Class {
	switch {
	case code == http.StatusNotFound: // a path that is not served
		return ClassKindUnknown
	case code == http.StatusUnauthorized:
		return ClassUnauthorized
	case code == http.StatusForbidden:
		return ClassForbidden
	case code == http.StatusTooManyRequests:
		return ClassThrottled
	case code == http.StatusRequestEntityTooLarge, code == http.StatusMethodNotAllowed:
		return ClassRefused
	case code >= http.StatusInternalServerError:
		return ClassUnreachable
	}
	return ClassInternal
}

// classOfNotFound distinguishes a missing namespace from a missing object; the latter was deleted between two calls.
func classOfNotFound(details *metav1.StatusDetails) Class {
	switch {
	case details == nil || details.Name == "":
		return ClassKindUnknown
	case details.Kind == "namespaces" && details.Group == "":
		return ClassNamespaceMissing
	}
	return ClassConflict
}

// unanswered reports whether err is an error of the connection: dial, TLS, time-out, or a broken stream.
func unanswered(err error) bool {
	var urlError *url.Error
	var netError net.Error
	return errors.As(err, &urlError) || errors.As(err, &netError) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "when reading response body") // client-go, around errors of HTTP/2
}

// hopeless reports whether every other call to the same cluster would fail as well: the server is unreachable, or accepts no
// request. A time-out while waiting for a response does not count: the cause may be one object's slow admission webhook.
func hopeless(err error) bool {
	var dial *net.OpError
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, context.Canceled), Classify(err) == ClassUnauthorized:
		return true
	case errors.As(err, &dial):
		return dial.Op == "dial"
	}
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
