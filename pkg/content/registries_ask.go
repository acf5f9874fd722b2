package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/errcode"
)

const (
	// maxPause limits how long a registry can ask clients to wait.
	maxPause = 5 * time.Minute
	// mirrorRest is how long an unresponsive mirror is skipped, so that not every request waits for it.
	mirrorRest = 30 * time.Second
	// maxErrorBody is how many bytes of an error response are read.
	maxErrorBody = 8 << 10
)

// ask tries the endpoints of a repository until one succeeds; task describes the request in errors.
//
//  1. The mirrors come first, then the registry itself.
//  2. Whatever a mirror fails with, the next endpoint is tried: wrong or missing content says nothing about the others. A local
//     failure ends the attempts, and so does a cancelled context.
//  3. If all fail, the reason is the registry's own, and the message includes the errors of the mirrors.
func ask[T any](
	ctx context.Context, o *OCI, host, repository, task string, do func(context.Context, Endpoint) (T, error),
) (answer T, err error) {
	endpoints, err := o.Endpoints(host, repository)
	if err != nil {
		return answer, fmt.Errorf("%s: %w", task, err)
	}
	var said []string
	for _, at := range endpoints {
		answer, err = askOne(ctx, o, at, do)
		if err == nil {
			return answer, nil
		}
		if !at.Mirror || ctx.Err() != nil || ReasonOf(err) == ReasonInternal {
			break
		}
		said = append(said, fmt.Sprintf("mirror %s: %v", at.Host, err))
	}
	if len(said) == 0 {
		return answer, fmt.Errorf("%s: %w", task, err)
	}
	return answer, fmt.Errorf("%s: %w (%s)", task, err, strings.Join(said, "; "))
}

// askOne tries one endpoint, with a time limit. It skips an endpoint that requested a pause or has just not responded.
func askOne[T any](ctx context.Context, o *OCI, at Endpoint, do func(context.Context, Endpoint) (T, error)) (answer T, err error) {
	if err := o.paused(at, time.Now()); err != nil {
		return answer, err
	}
	bounded, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	answer, err = do(bounded, at)
	if typed, ok := errors.AsType[*Error](err); ok && typed.Reason == ReasonRegistryUnreachable {
		wait := typed.RetryAfter
		if at.Mirror {
			wait = max(wait, mirrorRest)
		}
		o.pause(at, wait)
	}
	return answer, err
}

// refused converts an error response into an *Error.
func refused(response *http.Response) error {
	answer := &errcode.ErrorResponse{
		Method: response.Request.Method, URL: response.Request.URL, StatusCode: response.StatusCode,
	}
	var body struct {
		Errors errcode.Errors `json:"errors"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxErrorBody)).Decode(&body); err == nil {
		answer.Errors = body.Errors
	}
	failed := &Error{
		Reason: reasonOfStatus(answer.StatusCode), Err: &statusError{status: answer.StatusCode, text: answerText(answer)},
	}
	if failed.Reason == ReasonRegistryUnreachable {
		failed.RetryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return failed
}

// statusError is an error response.
type statusError struct {
	status int
	text   string
}

// Error returns the registry's text.
func (e *statusError) Error() string { return e.text }

// pause stops further requests to a registry that requested a pause: thousands of Manifests may be about to use it.
func (o *OCI) pause(at Endpoint, wait time.Duration) {
	if wait <= 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pauses == nil {
		o.pauses = map[string]time.Time{}
	}
	o.pauses[pauseKey(at)] = time.Now().Add(wait)
}

func (o *OCI) paused(at Endpoint, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	until, ok := o.pauses[pauseKey(at)]
	if !ok {
		return nil
	}
	if !now.Before(until) {
		delete(o.pauses, pauseKey(at))
		return nil
	}
	wait := until.Sub(now)
	why := "the registry asked not to be called"
	if at.Mirror {
		why = "it did not answer and is not asked"
	}
	return &Error{
		Reason:     ReasonRegistryUnreachable,
		Err:        fmt.Errorf("%s for another %s", why, wait.Round(time.Second)),
		RetryAfter: wait,
	}
}

// pauseKey returns the key of a host, separate for its role as a mirror: a paused mirror can still be requested its own content.
func pauseKey(at Endpoint) string {
	if at.Mirror {
		return "mirror " + at.Host
	}
	return at.Host
}

// retryAfter parses the Retry-After header: seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxPause)
}
