package apply

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	secrets = schema.GroupResource{Resource: "secrets"}
	spaces  = schema.GroupResource{Resource: "namespaces"}
)

// status returns a response as an admission plugin may compose it.
func status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Name: "a", Kind: "secrets", Causes: causes},
	}}
}

func invalid(errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "a", errs)
}

// bare returns client-go's error for a response without a Status.
func bare(code int) error {
	return apierrors.NewGenericServerResponse(code, "post", secrets, "a", "<html>s3cr3t-page</html>", 0, true)
}

// sent returns an error as http.Client wraps it when the transport fails.
func sent(err error) error { return &url.Error{Op: "Post", URL: "https://server/api", Err: err} }

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want Class
	}{
		{"nothing went wrong", nil, ""},
		{"an outcome's own error keeps its class", fmt.Errorf("phase 2: %w", &Error{Class: ClassConflict}), ClassConflict},
		{"the cluster does not know the kind", fmt.Errorf("discover: %w", &UnknownKindError{}), ClassKindUnknown},
		{"the path is not served", bare(404), ClassKindUnknown},
		{"the resource of a known group is not served",
			apierrors.NewGenericServerResponse(404, "post", secrets, "", "", 0, false), ClassKindUnknown},
		{"the namespace does not exist", apierrors.NewNotFound(spaces, "a"), ClassNamespaceMissing},
		{"the object was deleted meanwhile", apierrors.NewNotFound(secrets, "a"), ClassConflict},
		{"the namespace is terminating, reported as Forbidden",
			status(403, metav1.StatusReasonForbidden, "no new content", metav1.StatusCause{Type: corev1.NamespaceTerminatingCause}),
			ClassNamespaceTerminating},
		{"a permission is missing", apierrors.NewForbidden(secrets, "a", errors.New(`User "x" cannot create`)), ClassForbidden},
		{"a quota is used up", apierrors.NewForbidden(secrets, "a", errors.New("exceeded quota: q, requested: secrets=1")), ClassQuotaExceeded},
		{"a quota asks for limits that the object does not set",
			apierrors.NewForbidden(secrets, "a", errors.New("failed quota: q: must specify limits.cpu")), ClassQuotaExceeded},
		{"a webhook whose message mentions a quota", status(403, metav1.StatusReasonForbidden,
			`admission webhook "w" denied the request: x is forbidden: exceeded quota: q`), ClassAdmissionDenied},
		{"a webhook denies as Forbidden",
			status(403, metav1.StatusReasonForbidden, `admission webhook "w" denied the request: no`), ClassAdmissionDenied},
		{"a webhook denies without a reason", status(400, "", `admission webhook "w" denied the request without explanation`), ClassAdmissionDenied},
		{"a webhook denies as Unauthorized, which does not concern our credentials",
			status(401, metav1.StatusReasonUnauthorized, `admission webhook "w" denied the request: no`), ClassAdmissionDenied},
		{"a webhook's own failure", status(500, "", `admission webhook "w" denied the request: panic`), ClassInternal},
		{"a webhook that cannot be called",
			apierrors.NewInternalError(errors.New(`failed calling webhook "w": dial tcp: refused`)), ClassInternal},
		{"a policy denies", status(403, metav1.StatusReasonForbidden,
			`secrets "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), ClassAdmissionDenied},
		{"pod security denies", apierrors.NewForbidden(secrets, "a", errors.New(`violates PodSecurity "restricted:latest"`)), ClassAdmissionDenied},
		{"a field is invalid", invalid(field.Invalid(nil, "x", "must be y")), ClassRefused},
		{"a field is immutable", invalid(field.Invalid(nil, "x", "field is immutable")), ClassFieldImmutable},
		{"a field is immutable, and another is invalid", invalid(field.Required(nil, ""), field.Forbidden(nil, "field is immutable when `immutable` is set")),
			ClassFieldImmutable},
		{"a clusterIP is immutable", invalid(field.Invalid(nil, "x", "may not change once set")), ClassFieldImmutable},
		{"a roleRef is immutable", invalid(field.Invalid(nil, "x", "cannot change roleRef")), ClassFieldImmutable},
		{"a spec is immutable but for some fields", invalid(field.Forbidden(nil,
			"updates to statefulset spec for fields other than 'replicas', 'ordinals' and 'template' are forbidden")), ClassFieldImmutable},
		{"a claim is immutable", invalid(field.Forbidden(nil, "spec is immutable after creation except resources.requests")), ClassFieldImmutable},
		{"a rule of a CustomResourceDefinition makes a field immutable", invalid(field.Invalid(nil, "x", "size is immutable")), ClassFieldImmutable},
		{"the object cannot be decoded", apierrors.NewBadRequest("no JSON"), ClassRefused},
		{"the object does not fit the schema of server-side apply",
			status(500, "", "failed to create typed patch object (/a; /v1, Kind=Secret): .x: field not declared in schema"), ClassRefused},
		{"the object cannot be converted by server-side apply",
			status(500, "", "failed to convert new object (/a; /v1, Kind=Secret) to proper version"), ClassRefused},
		{"the object is too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), ClassRefused},
		{"the object is too large for etcd", status(500, "", "etcdserver: request is too large"), ClassRefused},
		{"the object is too large for the client of etcd",
			status(500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2500000 vs. 2097152)"), ClassRefused},
		{"the object is too large for a proxy", bare(413), ClassRefused},
		{"the resource does not support the write", apierrors.NewMethodNotSupported(secrets, "patch"), ClassRefused},
		{"the credentials are not accepted", apierrors.NewUnauthorized("no"), ClassUnauthorized},
		{"a proxy does not accept the credentials", bare(401), ClassUnauthorized},
		{"a proxy forbids", bare(403), ClassForbidden},
		{"the object changed meanwhile", apierrors.NewConflict(secrets, "a", errors.New("modified")), ClassConflict},
		{"the object exists", apierrors.NewAlreadyExists(secrets, "a"), ClassConflict},
		{"the resourceVersion expired", apierrors.NewResourceExpired("too old"), ClassConflict},
		{"too many requests", apierrors.NewTooManyRequests("slow down", 3), ClassThrottled},
		{"a proxy reports too many requests", bare(429), ClassThrottled},
		{"our own rate limit",
			errors.New("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline"), ClassThrottled},
		{"etcd does not respond", apierrors.NewServerTimeout(secrets, "create", 1), ClassUnreachable},
		{"the request took too long", apierrors.NewTimeoutError("timeout", 1), ClassUnreachable},
		{"the API server is shutting down", apierrors.NewServiceUnavailable("shutting down"), ClassUnreachable},
		{"a proxy has no API server behind it", bare(502), ClassUnreachable},
		{"a proxy's unexpected response", bare(418), ClassInternal},
		{"no one listens", sent(&net.OpError{Op: "dial", Err: errors.New("connection refused")}), ClassUnreachable},
		{"a name that does not resolve", sent(&net.DNSError{Name: "server"}), ClassUnreachable},
		{"another authority", sent(x509.UnknownAuthorityError{}), ClassUnreachable},
		{"the connection broke", io.ErrUnexpectedEOF, ClassUnreachable},
		{"the answer broke off", errors.New("unexpected error when reading response body. Please retry. Original error: x"), ClassUnreachable},
		{"the deadline is exceeded", context.DeadlineExceeded, ClassUnreachable},
		{"the caller gave up", sent(context.Canceled), ClassCanceled},
		{"the API server failed", apierrors.NewInternalError(errors.New("x")), ClassInternal},
		{"anything else", errors.New("x"), ClassInternal},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Classify(test.err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestClassify_OnlyErrorsThatEveryObjectWouldMeetAreHopeless(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"no one listens", sent(&net.OpError{Op: "dial", Err: errors.New("connection refused")}), true},
		{"a name that does not resolve", sent(&net.OpError{Op: "dial", Err: &net.DNSError{}}), true},
		{"the certificate expired", sent(x509.CertificateInvalidError{}), true},
		{"the certificate is for another host", sent(x509.HostnameError{Certificate: &x509.Certificate{}}), true},
		{"the credentials are not accepted", apierrors.NewUnauthorized("no"), true},
		{"the caller gave up", sent(context.Canceled), true},
		{"a missing response may be due to one object's webhook", sent(context.DeadlineExceeded), false},
		{"a connection that broke", sent(&net.OpError{Op: "read", Err: errors.New("reset")}), false},
		{"a proxy's 502 may be due to one object's size", bare(http.StatusBadGateway), false},
		{"a permission may be missing for one kind", apierrors.NewForbidden(secrets, "a", errors.New("no")), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := hopeless(test.err); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
