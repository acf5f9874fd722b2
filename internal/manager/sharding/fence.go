package sharding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Refusal is the error of a write that was not sent, since the right to it had ended.
type Refusal struct {
	// Bucket is -1 for a write that belongs to none.
	Bucket int
	// Why is one of the constants below.
	Why string
}

// Reasons for refusing a write.
const (
	// WhyUnmarked is a write that carries no bucket: a mistake of this program.
	WhyUnmarked = "unmarked"
	// WhyLapsed is a replica that could not renew its heartbeat in time.
	WhyLapsed = "lapsed"
	// WhyMoved is a bucket that another replica owns now.
	WhyMoved = "moved"
	// WhyEnded is a pass that has ended.
	WhyEnded = "ended"
)

// Error implements error.
func (r *Refusal) Error() string {
	switch r.Why {
	case WhyUnmarked:
		return "refused to write: the request does not name its bucket"
	case WhyLapsed:
		return fmt.Sprintf("refused to write: this replica has not renewed its heartbeat in time, so bucket %d may be another one's", r.Bucket)
	case WhyMoved:
		return fmt.Sprintf("refused to write: bucket %d is another replica's by now", r.Bucket)
	default:
		return fmt.Sprintf("refused to write: the pass over bucket %d has ended", r.Bucket)
	}
}

// Fence is a transport that sends only those writes whose pass may write, and cancels a write that is under way when the right to it ends.
// Reads pass, and so do queries by POST, and Events, which inform users and decide nothing.
type Fence struct {
	Next http.RoundTripper
	// Refused is called with the reason of every write that was not sent.
	Refused func(why string)
}

// RoundTrip implements http.RoundTripper.
func (f *Fence) RoundTrip(req *http.Request) (*http.Response, error) {
	if !writes(req) {
		return f.Next.RoundTrip(req)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	detach, err := permitted(req.Context(), cancel)
	if err != nil {
		cancel(err)
		return nil, f.refuse(req, err)
	}
	done := func() {
		detach()
		cancel(context.Canceled)
	}
	resp, err := f.Next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = &released{ReadCloser: resp.Body, done: done}
	return resp, nil
}

func permitted(ctx context.Context, cancel context.CancelCauseFunc) (detach func(), err error) {
	p, marked := ctx.Value(passKey{}).(*pass)
	if !marked {
		return nil, &Refusal{Bucket: -1, Why: WhyUnmarked}
	}
	return p.permit(cancel)
}

func (f *Fence) refuse(req *http.Request, err error) error {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok && f.Refused != nil {
		f.Refused(refusal.Why)
	}
	return err
}

// asking are the API groups whose POST only queries.
var asking = []string{"/apis/authentication.k8s.io/", "/apis/authorization.k8s.io/"}

// writes reports whether a request changes something that a bucket guards.
func writes(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	path := req.URL.Path
	for _, group := range asking {
		if strings.Contains(path, group) {
			return false
		}
	}
	return !events(path)
}

// events reports whether a path is one of Events: /api/v1/namespaces/NAMESPACE/events and the same below /apis/events.k8s.io/VERSION.
func events(path string) bool {
	for _, root := range []string{"/api/v1/namespaces/", "/apis/events.k8s.io/v1/namespaces/"} {
		if _, rest, found := strings.Cut(path, root); found {
			_, rest, _ = strings.Cut(rest, "/")
			resource, _, _ := strings.Cut(rest, "/")
			return resource == "events"
		}
	}
	return false
}

// released is a response body whose closing ends its request.
type released struct {
	io.ReadCloser
	done func()
}

// Close implements io.Closer.
func (r *released) Close() error {
	defer r.done()
	return r.ReadCloser.Close()
}
