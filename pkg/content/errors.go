package content

import (
	"errors"
	"time"
)

// Reasons of an Error: the same words that the conditions of a Manifest use.
const (
	// ReasonContentNotFound: the registry answers and does not have that content.
	ReasonContentNotFound = "ContentNotFound"
	// ReasonDigestMismatch: other bytes were served than the digest names.
	ReasonDigestMismatch = "DigestMismatch"
	// ReasonContentTooLarge: the content exceeds the size caps.
	ReasonContentTooLarge = "ContentTooLarge"
	// ReasonArchiveRefused: the archive holds entries that are not accepted, or is built to exhaust its reader.
	ReasonArchiveRefused = "ArchiveRefused"
	// ReasonContentInvalid: the content cannot be read as what it claims to be.
	ReasonContentInvalid = "ContentInvalid"
	// ReasonRegistryUnreachable: the registry does not answer, or answers that it cannot serve now.
	ReasonRegistryUnreachable = "RegistryUnreachable"
	// ReasonRegistryUnauthorized: the registry refuses the credentials, or wants some and there are none.
	ReasonRegistryUnauthorized = "RegistryUnauthorized"
	// ReasonSourceInvalid: the reference itself is wrong; no registry was asked.
	ReasonSourceInvalid = "SourceInvalid"
	// ReasonValuesInvalid: values, a config layer or set strings cannot be read, or do not fit the chart's schema.
	ReasonValuesInvalid = "ValuesInvalid"
	// ReasonNonDeterministic: rendering twice gives two results.
	ReasonNonDeterministic = "NonDeterministic"
	// ReasonHooksRefused: a chart has hooks, which are not run.
	ReasonHooksRefused = "HooksRefused"
	// ReasonRemoteBaseRefused: a kustomization refers to something that is not part of its content.
	ReasonRemoteBaseRefused = "RemoteBaseRefused"
	// ReasonInternal: trouble of this machine (disk full, no permission), which says nothing about the content.
	ReasonInternal = "Internal"
)

// Error is why content cannot be used.
type Error struct {
	// Reason is one of the constants above.
	Reason string
	// Err says what happened, where, and what to do.
	Err error
	// RetryAfter is how long the registry asked us to stay away; 0 when it said nothing.
	RetryAfter time.Duration
}

// Error is the text of the cause; the reason travels beside it, not in it.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf is the reason of the first *Error in err's chain, ReasonInternal for every other error and "" for nil.
func ReasonOf(err error) string {
	if err == nil {
		return ""
	}
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed.Reason
	}
	return ReasonInternal
}
