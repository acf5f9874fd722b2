package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Match selects calls.
type Match func(Call) bool

// All matches every call.
func All(Call) bool { return true }

// Writes matches calls that may change something.
func Writes(c Call) bool { return c.Mutating }

// Only applies the middleware to calls that match, and lets the others pass.
func Only(match Match, mw Middleware) Middleware {
	return func(next http.Handler) http.Handler {
		inside := mw(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match(CallOf(r.Context())) {
				inside.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Answer sends this response instead of the server's. A retryAfter above 0 becomes the header Retry-After.
func Answer(status metav1.Status, retryAfter time.Duration) Middleware {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { WriteStatus(w, status, retryAfter) })
	}
}

// WriteStatus responds as an API server that refuses a request.
func WriteStatus(w http.ResponseWriter, status metav1.Status, retryAfter time.Duration) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	data, err := json.Marshal(status)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Round(time.Second)/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(data)
}

// Slow waits before it forwards a call to the server.
func Slow(delay time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(delay):
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})
	}
}

// Abort breaks the connection without a response and without calling the server.
func Abort(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// Unanswered calls the server, and breaks the connection when it has responded: the client never sees the response.
func Unanswered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&deaf{header: http.Header{}}, r)
		panic(http.ErrAbortHandler)
	})
}

// deaf discards the response.
type deaf struct{ header http.Header }

// Header returns a header that is not read.
func (d *deaf) Header() http.Header { return d.header }

// Write discards everything.
func (d *deaf) Write(data []byte) (int, error) { return len(data), nil }

// WriteHeader discards everything.
func (d *deaf) WriteHeader(int) {}

// Revision returns the present revision of the server behind, bypassing the proxy, for StaleLists.
func (p *Proxy) Revision(ctx context.Context) (string, error) {
	client, err := rest.HTTPClientFor(p.options.Upstream)
	if err != nil {
		return "", err
	}
	base, _, err := rest.DefaultServerUrlFor(p.options.Upstream)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("api/v1/namespaces").String()+"?limit=1", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("cannot ask %s for its revision: %w", p.options.Name, err)
	}
	defer func() { _ = response.Body.Close() }()
	var list metav1.PartialObjectMetadataList
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || list.ResourceVersion == "" {
		return "", fmt.Errorf("cannot read the revision of %s from an answer %s: %w", p.options.Name, response.Status, err)
	}
	return list.ResourceVersion, nil
}

// StaleLists answers lists as of an earlier revision, like a lagging replica of the API server. Watches that begin with a list get the
// response that this server does not support them, and so become a list and a watch that continues where the list ended. revision is called
// again for each list; with "" the list is not changed. A list with a continue token continues as it began.
func StaleLists(revision func(Call) string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call, query := CallOf(r.Context()), r.URL.Query()
			if call.Verb == "watch" && query.Get("sendInitialEvents") == "true" && revision(call) != "" {
				WriteStatus(w, metav1.Status{
					Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
					Message: "sendInitialEvents is forbidden for watch",
				}, 0)
				return
			}
			if old := revision(call); old != "" && call.Verb == "list" && query.Get("continue") == "" {
				query.Set("resourceVersion", old)
				query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
				r = r.Clone(r.Context())
				r.URL.RawQuery = query.Encode()
			}
			next.ServeHTTP(w, r)
		})
	}
}
