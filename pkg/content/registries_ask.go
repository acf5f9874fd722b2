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
	// maxPause bounds how long a registry can send us away.
	maxPause = 5 * time.Minute
	// mirrorRest is how long a mirror that does not answer is passed over, so that not every request waits for it.
	mirrorRest = 30 * time.Second
	// maxErrorBody is what is read of an answer that is no content.
	maxErrorBody = 8 << 10
)

// ask asks the endpoints of a repository until one has the answer; task says what for, in errors.
//
//  1. The mirrors come first, then the registry itself.
//  2. Whatever a mirror fails with, the next is asked: what it serves wrongly or not at all says nothing of the others. Trouble of this
//     machine ends it, and so does a caller who gives up.
//  3. When all fail, the reason is the registry's own, and the message tells what the mirrors said.
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

// askOne bounds one endpoint's time, and leaves those alone that asked for it or have just not answered.
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

// refused turns an answer that is no content into an *Error.
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

// statusError is an answer that is no content.
type statusError struct {
	status int
	text   string
}

// Error is what the registry said.
func (e *statusError) Error() string { return e.text }

// pause keeps further requests from a registry that asked for rest: thousands of Manifests may be about to ask it.
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

// pauseKey is the host, once as a mirror and once as itself: that it rests as a mirror keeps nobody from asking it for its own content.
func pauseKey(at Endpoint) string {
	if at.Mirror {
		return "mirror " + at.Host
	}
	return at.Host
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxPause)
}
