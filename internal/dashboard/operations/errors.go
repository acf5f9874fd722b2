package operations

import (
	"errors"
	"fmt"
)

// Reasons of errors of this package. What the cluster refuses keeps the cluster's own error.
const (
	// WhyInvalid: the deed itself is wrong.
	WhyInvalid = "Invalid"
	// WhyNotFound: it is about something that is not there.
	WhyNotFound = "NotFound"
	// WhyRefused: it may not be done this way.
	WhyRefused = "Refused"
	// WhyConfirm: the user must type Preview.Confirm first.
	WhyConfirm = "ConfirmationNeeded"
	// WhyBlocked: objects that users made stand in the way.
	WhyBlocked = "Blocked"
	// WhyBusy: another operation is about the same module, or the same operation continues already.
	WhyBusy = "Conflict"
	// WhyTooMany: too much is under way at once.
	WhyTooMany = "TooManyRequests"
	// WhyForbidden: the user may not do or see that.
	WhyForbidden = "Forbidden"
)

// Error is why a deed is not done.
type Error struct {
	// Reason is one of those above.
	Reason string
	// Message says what, where, and what to do.
	Message string
	// Blocking are the objects that stand in the way, if that is the reason.
	Blocking []Blocking
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// ReasonOf returns the reason of an error of this package, "" for every other one.
func ReasonOf(err error) string {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return ""
}

func refuse(reason, format string, args ...any) error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
