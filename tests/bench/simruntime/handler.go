package simruntime

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// request is one call to a runtime.
type request struct {
	*http.Request
	runtime *Runtime
	out     http.ResponseWriter
	target
	verb string
}

// target is what the path of a request names.
type target struct {
	group, version, resource, namespace, name, subresource string
	path                                                   string // of what is no resource
}

func (t *target) gr() schema.GroupResource {
	return schema.GroupResource{Group: t.group, Resource: t.resource}
}

// label returns the resource as calls spell it.
func (t *target) label() string {
	if t.path != "" {
		return t.path
	}
	label := t.resource
	if t.group != "" {
		label += "." + t.group
	}
	if t.subresource != "" {
		label += "/" + t.subresource
	}
	return label
}

// targetOf reads a path: /api/<version>/... or /apis/<group>/<version>/..., then
// [namespaces/<namespace>/]<resource>[/<name>[/<subresource>]].
func targetOf(path string) target {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var t target
	switch {
	case len(parts) > 2 && parts[0] == "api":
		t.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		t.group, t.version, parts = parts[1], parts[2], parts[3:]
	default:
		return target{path: "/" + strings.Trim(path, "/")}
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	return t
}

// verbOf returns what is requested, as RBAC and audit logs spell it.
func verbOf(req *http.Request, t *target, watch string) string {
	switch {
	case req.Method == http.MethodPost:
		return calls.Create
	case req.Method == http.MethodPut:
		return calls.Update
	case req.Method == http.MethodPatch:
		return calls.Patch
	case req.Method == http.MethodDelete:
		return calls.Delete
	case watch == "true" || watch == "1":
		return calls.Watch
	case t.path == "" && t.name == "":
		return calls.List
	}
	return calls.Get
}

// ServeHTTP implements http.Handler.
func (f *Runtimes) ServeHTTP(out http.ResponseWriter, req *http.Request) {
	r, ok := req.Context().Value(runtimeKey{}).(*Runtime)
	if !ok {
		http.Error(out, "no runtime accepted this connection", http.StatusMisdirectedRequest)
		return
	}
	q := &request{Request: req, runtime: r, target: targetOf(req.URL.Path)}
	q.out = &counted{ResponseWriter: out, counter: &r.counter}
	watch := ""
	if strings.Contains(req.URL.RawQuery, "watch=") {
		watch = req.URL.Query().Get("watch")
	}
	q.verb = verbOf(req, &q.target, watch)
	r.counter.call(calls.Call{Verb: q.verb, Resource: q.label(), Agent: shared(req.UserAgent())})
	out.Header().Set("Content-Type", "application/json")
	if err := q.admit(); err != nil {
		q.fail(err)
		return
	}
	if err := q.serve(); err != nil {
		q.fail(err)
	}
}

// counted counts the answers.
type counted struct {
	http.ResponseWriter
	counter *counter
}

// WriteHeader implements http.ResponseWriter.
func (c *counted) WriteHeader(status int) {
	c.counter.answer(status)
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// admit does what the knobs say, and looks at the token.
func (q *request) admit() error {
	r := q.runtime
	knobs := r.knobs.Load()
	n := r.asked.Add(1)
	if knobs.Latency > 0 {
		late := time.NewTimer(knobs.Latency)
		defer late.Stop()
		select {
		case <-late.C:
		case <-q.Context().Done():
			return q.Context().Err()
		case <-r.scream:
			return apierrors.NewServiceUnavailable("the simulation ends")
		}
	}
	if knobs.Status != 0 {
		return statusError(knobs.Status, "this runtime is told to answer so")
	}
	if knobs.RejectNth > 0 && n%int64(knobs.RejectNth) == 0 {
		return statusError(http.StatusServiceUnavailable, "this runtime is told to refuse some calls")
	}
	if q.Header.Get("Authorization") != "Bearer "+r.bearer() {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	return nil
}

// statusError returns an answer with that code, whatever it means.
func statusError(code int, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Message: message, Reason: reasonOf(code),
	}}
}

func reasonOf(code int) metav1.StatusReason {
	switch code {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusUnprocessableEntity:
		return metav1.StatusReasonInvalid
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError
	}
	return metav1.StatusReasonUnknown
}

// fail answers with an error.
func (q *request) fail(err error) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusInternalServerError, Message: err.Error()}}
	}
	status := known.Status()
	status.Kind, status.APIVersion, status.Status = "Status", "v1", metav1.StatusFailure
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		q.out.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	q.answer(int(status.Code), &status)
}

// answer writes a value.
func (q *request) answer(code int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		code, data = http.StatusInternalServerError, []byte(`{}`)
	}
	q.send(code, data)
}

// send writes pieces of an answer.
func (q *request) send(code int, pieces ...[]byte) {
	length := 0
	for _, piece := range pieces {
		length += len(piece)
	}
	q.out.Header().Set("Content-Length", strconv.Itoa(length))
	q.out.WriteHeader(code)
	for _, piece := range pieces {
		if _, err := q.out.Write(piece); err != nil {
			return
		}
	}
}
