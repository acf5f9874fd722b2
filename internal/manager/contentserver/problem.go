package contentserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// problem is an error response.
type problem struct {
	code    int
	reason  metav1.StatusReason
	message string
	// retry is the time after which to ask again; 0 is left out.
	retry time.Duration
	// cause is for the log only.
	cause error
}

// status returns the body: a Status as the Kubernetes API returns it, which clients can display.
func (p *problem) status() metav1.Status {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(p.code), Reason: p.reason, Message: p.message,
	}
	if p.retry > 0 {
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(p.retrySeconds())}
	}
	return status
}

func (p *problem) retrySeconds() int { return max(1, int(math.Ceil(p.retry.Seconds()))) }

func (p *problem) setHeaders(header http.Header) {
	if p.retry > 0 {
		header.Set("Retry-After", strconv.Itoa(p.retrySeconds()))
	}
	if p.code == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Bearer realm="lifecycle-manager"`)
	}
}

func unauthenticated(message string) *problem {
	return &problem{code: http.StatusUnauthorized, reason: metav1.StatusReasonUnauthorized, message: message}
}

func forbidden(user, namespace, name string) *problem {
	return &problem{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, message: fmt.Sprintf(
		"user %q may not %s %s/%s of group %s, name %q, in namespace %q: bind a Role with that rule",
		user, rightVerb, rightResource, rightSubresource, rightGroup, name, namespace)}
}

func tooManyFailures(wait time.Duration) *problem {
	return &problem{code: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, retry: wait,
		message: "too many refused requests came from this address: use a token with the right, and try later"}
}

// cannotReview is not the client's fault: the API server is unreachable, or this program may not create reviews.
func cannotReview(what string, cause error) *problem {
	return &problem{code: http.StatusServiceUnavailable, reason: metav1.StatusReasonServiceUnavailable, retry: defaultRetry, cause: cause,
		message: "the " + what + " cannot be checked now: see the log of the manager"}
}

func badName(message string) *problem {
	return &problem{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest, message: message}
}

func notFound(message string) *problem {
	return &problem{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound, message: message}
}

func busy() *problem {
	return &problem{code: http.StatusServiceUnavailable, reason: metav1.StatusReasonServiceUnavailable, retry: time.Second,
		message: "many others are reading content: ask again"}
}

func stillPending(install string, retry time.Duration) *problem {
	what := "the content"
	if install != "" {
		what = fmt.Sprintf("the content of install %q", install)
	}
	return &problem{code: http.StatusServiceUnavailable, reason: metav1.StatusReasonServiceUnavailable, retry: retry,
		message: what + " is being fetched: ask again"}
}

// ofContents returns the response for an error of Contents. Errors with a reason are for users, as in the status of the Manifest; the text
// of others stays in the log.
func ofContents(err error, namespace, name string) *problem {
	var refused *content.Error
	switch {
	case errors.Is(err, ErrNotFound):
		return notFound(fmt.Sprintf("Manifest %s/%s does not exist or has no content yet: its status.resolved lists what there is",
			namespace, name))
	case errors.Is(err, ErrPending), errors.Is(err, context.DeadlineExceeded):
		return stillPending("", retryAfter(err))
	case errors.As(err, &refused) && refused.Reason == content.ReasonRegistryUnreachable:
		return &problem{code: http.StatusServiceUnavailable, reason: metav1.StatusReasonServiceUnavailable, retry: retryAfter(err),
			message: refused.Reason + ": " + refused.Error()}
	case errors.As(err, &refused) && refused.Reason != content.ReasonInternal:
		return &problem{code: http.StatusBadGateway, reason: metav1.StatusReason(refused.Reason), message: refused.Error()}
	default:
		return &problem{code: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError, cause: err,
			message: "the content cannot be read: see the log of the manager"}
	}
}
