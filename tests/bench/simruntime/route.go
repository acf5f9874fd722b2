package simruntime

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// gitVersion is what runtimes tell for their version.
const gitVersion = "v1.36.3"

// serve does what the path and the verb ask for.
func (q *request) serve() error {
	if q.path != "" {
		return q.serveDocument()
	}
	switch q.verb {
	case calls.Get:
		return q.get()
	case calls.List:
		return q.list()
	case calls.Watch:
		return q.watch()
	case calls.Create:
		return q.create()
	case calls.Update, calls.Patch:
		return q.change()
	case calls.Delete:
		if q.name == "" {
			return q.removeAll()
		}
		return q.remove()
	}
	return apierrors.NewMethodNotSupported(q.gr(), q.verb)
}

// serveDocument answers for what is no resource.
func (q *request) serveDocument() error {
	parts := strings.Split(strings.Trim(q.path, "/"), "/")
	switch {
	case q.path == "/version":
		q.send(http.StatusOK, []byte(`{"major":"1","minor":"36","gitVersion":"`+gitVersion+`","platform":"linux/amd64"}`))
	case q.path == "/healthz", q.path == "/livez", q.path == "/readyz":
		q.out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		q.send(http.StatusOK, []byte("ok"))
	case parts[0] == "api" && len(parts) <= 2, parts[0] == "apis" && len(parts) <= 3:
		return q.discover(parts)
	case parts[0] == "openapi":
		return q.openapi(parts[1:])
	default:
		return statusNotFound()
	}
	return nil
}

// statusNotFound returns what API servers say of a path that they do not serve. It names no resource: that is how clients tell it from an
// object that is not there.
func statusNotFound() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "404 page not found", 0, true)
}

// tableLocked finds what a request is about, and the version in which. The caller holds the lock.
func (q *request) tableLocked() (*table, string, error) {
	t := q.runtime.findLocked(q.gr())
	if t == nil || t.kind.version(q.version) == "" {
		return nil, "", statusNotFound()
	}
	namespaced := q.namespace != ""
	switch {
	case t.kind.namespaced != namespaced && (namespaced || q.name != "" || q.verb == calls.Create):
		return nil, "", statusNotFound()
	case q.subresource == "" || q.subresource == "status" && t.kind.status:
		return t, q.version, nil
	}
	return nil, "", statusNotFound()
}

// gone says that an object is not there.
func (q *request) gone() error { return apierrors.NewNotFound(q.gr(), q.name) }

// partial reports whether metadata alone is wanted.
func (q *request) partial() bool {
	return strings.Contains(q.Header.Get("Accept"), "as=PartialObjectMetadata")
}

const (
	partialHead     = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`
	partialListHead = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":`
)

// in returns an object in a version, whole or in part, in pieces to be written one after the other.
func (o *object) in(k *kind, version string, partial bool) [][]byte {
	if partial {
		return [][]byte{[]byte(partialHead), o.bytes(o.metadata), []byte("}")}
	}
	if version == k.stored {
		return [][]byte{o.data}
	}
	stored := fmt.Sprintf(`{"apiVersion":%q`, k.gvk(k.stored).GroupVersion().String())
	asked := fmt.Sprintf(`{"apiVersion":%q`, k.gvk(version).GroupVersion().String())
	return [][]byte{[]byte(asked), o.data[len(stored):]}
}

// tell answers with an object.
func (q *request) tell(code int, o *object, k *kind, version string) {
	q.send(code, o.in(k, version, q.partial())...)
}
