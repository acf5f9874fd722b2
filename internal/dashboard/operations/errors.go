package operations

import (
	"errors"
	"fmt"
)

// Reasons of errors of this package. A refusal of the cluster keeps the cluster's own error.
const (
	// WhyInvalid means that the request itself is wrong.
	WhyInvalid = "Invalid"
	// WhyNotFound means that the request is about something that does not exist.
	WhyNotFound = "NotFound"
	// WhyRefused means that it may not be done this way.
	WhyRefused = "Refused"
	// WhyConfirm means that the user must type Preview.Confirm first.
	WhyConfirm = "ConfirmationNeeded"
	// WhyBlocked means that objects that users made block the request.
	WhyBlocked = "Blocked"
	// WhyBusy means that another operation is about the same module, or that the same operation already continues.
	WhyBusy = "Conflict"
	// WhyTooMany means that too many operations are under way.
	WhyTooMany = "TooManyRequests"
	// WhyForbidden means that the user may not do or see that.
	WhyForbidden = "Forbidden"
)

// Error is the reason why a request is not carried out.
type Error struct {
	// Reason is one of those above.
	Reason string
	// Message names what is wrong, where, and what to do.
	Message string
	// Blocking lists the objects that block the request, if that is the reason.
	Blocking []Blocking
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// ReasonOf returns the reason of an error of this package, "" for any other error.
func ReasonOf(err error) string {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return ""
}

func refuse(reason, format string, args ...any) error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
