package apply

import (
	"errors"
	"net/http"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// failedCall is how an API server reports that it could not ask an admission webhook: no connection, no endpoint, no answer in time, or one
// that is none. What a webhook denies is reported in other words, and so is a failed conversion.
var failedCall = regexp.MustCompile(`(?:^|: )failed calling webhook "([^"]+)"`)

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
	if found := failedCall.FindStringSubmatch(status.Status().Message); found != nil {
		return found[1]
	}
	return ""
}
