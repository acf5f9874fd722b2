package content

import (
	"errors"
	"fmt"
	"time"
)

// The reasons of an Error, which are also those of a Manifest's conditions.
const (
	// ReasonContentNotFound: the registry responds and does not have the content.
	ReasonContentNotFound = "ContentNotFound"
	// ReasonDigestMismatch: the served bytes do not match the digest.
	ReasonDigestMismatch = "DigestMismatch"
	// ReasonContentTooLarge: the content exceeds the size caps.
	ReasonContentTooLarge = "ContentTooLarge"
	// ReasonArchiveRefused: the archive holds entries that are not accepted, or is built to exhaust its reader.
	ReasonArchiveRefused = "ArchiveRefused"
	// ReasonContentInvalid: the content cannot be read as what it claims to be.
	ReasonContentInvalid = "ContentInvalid"
	// ReasonRegistryUnreachable: the registry does not respond, or responds that it is unavailable.
	ReasonRegistryUnreachable = "RegistryUnreachable"
	// ReasonRegistryUnauthorized: the registry rejects the credentials, or requires some and there are none.
	ReasonRegistryUnauthorized = "RegistryUnauthorized"
	// ReasonSourceInvalid: the reference itself is wrong; no request was sent.
	ReasonSourceInvalid = "SourceInvalid"
	// ReasonValuesInvalid: values, a config layer or set strings cannot be read, or do not fit the chart's schema.
	ReasonValuesInvalid = "ValuesInvalid"
	// ReasonNonDeterministic: rendering the content twice gives different results.
	ReasonNonDeterministic = "NonDeterministic"
	// ReasonGeneratedValuesLost: a value that was generated for an installation is not there any more, or is none that its function gives.
	ReasonGeneratedValuesLost = "GeneratedValuesLost"
	// ReasonContentNotCovered: a signature is enforced, and does not cover what the content depends on.
	ReasonContentNotCovered = "ContentNotCovered"
	// ReasonHooksRefused: a chart has hooks, which are not run.
	ReasonHooksRefused = "HooksRefused"
	// ReasonRemoteBaseRefused: a kustomization refers to something that is not part of its content.
	ReasonRemoteBaseRefused = "RemoteBaseRefused"
	// ReasonInternal: a local failure (disk full, no permission), which says nothing about the content.
	ReasonInternal = "Internal"
)

// Error reports why content cannot be used.
type Error struct {
	// Reason is one of the constants above.
	Reason string
	// Err describes what happened, where, and what to do.
	Err error
	// RetryAfter is how long the registry asked clients to wait; 0 if it did not.
	RetryAfter time.Duration
}

// Errorf returns an *Error with a reason. Its text is made as by fmt.Errorf.
func Errorf(reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Error returns the text of the cause, without the reason.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of the first *Error in err's chain, ReasonInternal for every other error and "" for nil.
func ReasonOf(err error) string {
	if err == nil {
		return ""
	}
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed.Reason
	}
	return ReasonInternal
}
