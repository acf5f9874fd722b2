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

// The reasons an Error can have. They are the words that conditions show.
const (
	// ReasonNotFound: the registry answers and does not have that component version.
	ReasonNotFound = "ComponentNotFound"
	// ReasonInvalid: what the registry has under that name is no component version that can be read.
	ReasonInvalid = "ComponentInvalid"
	// ReasonUnreachable: the registry does not answer, or answers that it cannot serve now.
	ReasonUnreachable = "RegistryUnreachable"
	// ReasonUnauthorized: the registry wants other credentials than it was given.
	ReasonUnauthorized = "RegistryUnauthorized"
	// ReasonSignatureMissing: the component version has no signature of a name that counts.
	ReasonSignatureMissing = "SignatureMissing"
	// ReasonSignatureInvalid: the signature is not one of this component version, or cannot be checked.
	ReasonSignatureInvalid = "SignatureInvalid"
	// ReasonSignatureUntrusted: nobody who is trusted made the signature, or the certificate is not valid now.
	ReasonSignatureUntrusted = "SignatureUntrusted"
	// ReasonSignatureRevoked: a key made the signature that is revoked.
	ReasonSignatureRevoked = "SignatureRevoked"
)

var (
	// ErrTooLarge is wrapped by an Error about content that exceeds its cap.
	ErrTooLarge = errors.New("larger than allowed")
	// ErrDigestMismatch is wrapped by an Error about bytes that are not those that their digest promised.
	ErrDigestMismatch = errors.New("content does not match its digest")
)

// Error tells why a component version could not be read, or does not hold what is asked of it.
type Error struct {
	// Reason is one of the Reason constants of this package.
	Reason string
	// Err says what happened, where, and what to do.
	Err error
}

// Error returns the message alone: the reason is shown beside it wherever it is shown.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives errors.Is and errors.As the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the Reason of the first Error that err wraps, and "" when there is none.
func ReasonOf(err error) string {
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed.Reason
	}
	return ""
}

// invalid makes an Error about content that cannot be used.
func invalid(format string, args ...any) error {
	return &Error{Reason: ReasonInvalid, Err: fmt.Errorf(format, args...)}
}

// explain turns what went wrong at a registry into an Error that names the component, the place and the way out.
// A cancelled caller gets its own error back: nobody learns anything about the registry from a shutdown.
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

// reasonFor sorts an error of a request. What is neither a status, nor trouble with the network, nor with a login
// is an answer that no registry gives, and therefore about the content.
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

// readError sorts an error of reading a body: oras says apart what the bytes are guilty of; the rest is the network's.
func readError(what string, err error) error {
	if errors.Is(err, content.ErrMismatchedDigest) || errors.Is(err, content.ErrTrailingData) {
		return invalid("%s: %w: %w", what, ErrDigestMismatch, err)
	}
	return &Error{Reason: ReasonUnreachable, Err: fmt.Errorf("%s: %w", what, err)}
}
