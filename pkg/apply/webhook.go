package apply

import (
	"errors"
	"net/http"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// failedCall is how an API server reports that it could not ask an admission webhook: no connection, no endpoint, no answer in time, or one
// that is none. The message begins with it: a webhook that denies chooses the code and the rest of its message, but never the beginning. A
// failed conversion is reported in other words.
var failedCall = regexp.MustCompile(`^Internal error occurred: failed calling webhook "([^"]+)"`)

// UnansweredWebhook returns the name of the admission webhook because of which a call failed, where that webhook did not answer; empty
// otherwise.
func UnansweredWebhook(err error) string {
	if told, ok := errors.AsType[*Error](err); ok {
		return told.Webhook
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code < http.StatusInternalServerError {
		return ""
	}
	message := status.Status().Message
	if denied(message) {
		return ""
	}
	if found := failedCall.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}
