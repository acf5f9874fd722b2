package descriptor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	lmcontent "github.com/kyma-project/lifecycle-manager/pkg/content"
)

// The reasons of an Error. They are used as condition reasons.
const (
	// ReasonNotFound: the registry responds and does not have that component version.
	ReasonNotFound = "ComponentNotFound"
	// ReasonInvalid: the registry's content under that name is not a readable component version.
	ReasonInvalid = "ComponentInvalid"
	// ReasonUnreachable: the registry does not respond, or responds that it is unavailable.
	ReasonUnreachable = "RegistryUnreachable"
	// ReasonUnauthorized: the registry rejects the credentials, or requires some.
	ReasonUnauthorized = "RegistryUnauthorized"
	// ReasonSignatureMissing: the component version has no signature with a trusted name.
	ReasonSignatureMissing = "SignatureMissing"
	// ReasonSignatureInvalid: the signature does not match this component version, or cannot be checked.
	ReasonSignatureInvalid = "SignatureInvalid"
	// ReasonSignatureUntrusted: no trusted signer made the signature, or the certificate is not valid now.
	ReasonSignatureUntrusted = "SignatureUntrusted"
	// ReasonSignatureRevoked: a revoked key made the signature.
	ReasonSignatureRevoked = "SignatureRevoked"
)

var (
	// ErrTooLarge is wrapped by an Error about content that exceeds its cap.
	ErrTooLarge = errors.New("larger than allowed")
	// ErrDigestMismatch is wrapped by an Error about bytes that do not match their digest.
	ErrDigestMismatch = errors.New("content does not match its digest")
)

// Error reports why a component version could not be read or verified.
type Error struct {
	// Reason is one of the Reason constants of this package.
	Reason string
	// Err describes what happened, where, and what to do.
	Err error
}

// Error returns the message without the reason, which is shown beside it.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the Reason of the first Error that err wraps, and "" if there is none.
func ReasonOf(err error) string {
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed.Reason
	}
	return ""
}

// invalid returns an Error about unusable content.
func invalid(format string, args ...any) error {
	return &Error{Reason: ReasonInvalid, Err: fmt.Errorf(format, args...)}
}

// explain turns a failure at a registry into an Error that names the component, the registry and the remedy. For a cancelled caller it
// returns context.Canceled: a shutdown says nothing about the registry.
func (p place) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("read component %s from %s: %w", p.component, p.registry, context.Canceled)
	}
	reason := reasonFor(err)
	switch reason {
	case ReasonNotFound:
		err = fmt.Errorf("registry %s has no component %s (looked for %s): publish it there, or correct its name or version: %w",
			p.registry, p.component, p.reference(), err)
	case ReasonUnauthorized:
		err = fmt.Errorf("registry %s does not let component %s be read: check the credentials for it: %w", p.registry, p.component, err)
	case ReasonUnreachable:
		err = fmt.Errorf("registry %s does not serve component %s: check that it runs and can be reached from here: %w",
			p.registry, p.component, err)
	default:
		err = fmt.Errorf("component %s in registry %s cannot be read: %w", p.component, p.registry, err)
	}
	return &Error{Reason: reason, Err: err}
}

// reasonFor returns the reason of a request's error. An error that is neither a status, nor a network error, nor about a login is a
// response that no registry gives, and is therefore about the content.
func reasonFor(err error) string {
	if reason := ReasonOf(err); reason != "" {
		return reason
	}
	var status *errcode.ErrorResponse
	var network net.Error
	var request *url.Error
	switch {
	case errors.As(err, &status):
		return reasonForStatus(status.StatusCode)
	case errors.Is(err, errdef.ErrNotFound):
		return ReasonNotFound
	case errors.Is(err, auth.ErrBasicCredentialNotFound), lmcontent.ReasonOf(err) == lmcontent.ReasonRegistryUnauthorized:
		return ReasonUnauthorized
	case errors.As(err, &request), errors.As(err, &network),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF):
		return ReasonUnreachable
	default:
		return ReasonInvalid
	}
}

func reasonForStatus(code int) string {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ReasonUnauthorized
	default:
		return ReasonUnreachable
	}
}

// readError classifies an error of reading a body: oras distinguishes errors in the bytes; all others are network errors.
func readError(what string, err error) error {
	if errors.Is(err, content.ErrMismatchedDigest) || errors.Is(err, content.ErrTrailingData) {
		return invalid("%s: %w: %w", what, ErrDigestMismatch, err)
	}
	return &Error{Reason: ReasonUnreachable, Err: fmt.Errorf("%s: %w", what, err)}
}
