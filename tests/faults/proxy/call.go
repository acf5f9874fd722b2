package proxy

import (
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Call is one request and its result.
type Call struct {
	// N counts the requests of this proxy from 1, in the order in which they arrived.
	N uint64
	// Server is the name of the proxy.
	Server string
	// Verb as RBAC spells it: get, list, watch, create, update, patch, delete, deletecollection. For a path that serves no
	// resource it is the method in lower case.
	Verb string
	// Group, Version, Resource, Namespace, Name and Subresource are taken from the path; a create's name is its object's. For a path that
	// serves no resource, Resource is the path.
	Group, Version, Resource, Namespace, Name, Subresource string
	// Query of the request.
	Query string
	// Mutating reports whether the call may change something lasting: it is not a read, dry run or review.
	Mutating bool
	// Status is the client's response, 0 when there is none (yet).
	Status int
	// Upstream is the response of the server behind, 0 when there is none: it may not even have received the request.
	Upstream int
	// ContentType and Digest (sha256, hex) of the body of a mutating call, and its beginning.
	ContentType, Digest string
	Body                []byte
	// UID and ResourceVersion are the preconditions: of a delete its options', of a write the object's.
	UID, ResourceVersion string
	// FieldManager of the query, and Force of a server-side apply.
	FieldManager string
	Force        bool
	// Agent is the user agent.
	Agent string
	// At is when it arrived, and Took how long it took until the response was complete.
	At   time.Time
	Took time.Duration
}

// GVR returns the resource of the call.
func (c Call) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: c.Group, Version: c.Version, Resource: c.Resource}
}

// Apply reports whether it is a server-side apply.
func (c Call) Apply() bool { return strings.HasPrefix(c.ContentType, "application/apply-patch") }

// Heartbeat reports whether the call is about a Lease or an Event: a manager writes these for its own purposes, at its own pace.
func (c Call) Heartbeat() bool {
	switch c.Resource {
	case "events", "leases":
		return true
	}
	return false
}

// String returns "patch deployments.apps/status kyma-system/greeter".
func (c Call) String() string {
	text := c.Verb + " " + c.Resource
	if c.Group != "" {
		text += "." + c.Group
	}
	if c.Subresource != "" {
		text += "/" + c.Subresource
	}
	switch {
	case c.Namespace != "":
		text += " " + c.Namespace + "/" + c.Name
	case c.Name != "":
		text += " " + c.Name
	}
	return text
}

// read returns a Call with a request's method, path, query and header.
func read(request *http.Request) Call {
	query := request.URL.Query()
	call := Call{
		Query:        request.URL.RawQuery,
		FieldManager: query.Get("fieldManager"),
		Force:        query.Get("force") == "true",
		Agent:        request.UserAgent(),
		At:           time.Now(),
	}
	watched := target(&call, request.URL.Path) || query.Get("watch") == "true" || query.Get("watch") == "1"
	call.Verb = verb(request.Method, call, watched)
	switch call.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		call.Mutating = query.Get("dryRun") == "" && !strings.HasSuffix(call.Resource, "reviews")
	}
	return call
}

func verb(method string, call Call, watched bool) string {
	switch {
	case strings.HasPrefix(call.Resource, "/"):
		return strings.ToLower(method)
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodPatch:
		return "patch"
	case method == http.MethodDelete && call.Name == "":
		return "deletecollection"
	case method == http.MethodDelete:
		return "delete"
	case watched:
		return "watch"
	case call.Name == "":
		return "list"
	}
	return "get"
}

// target parses a path by the API server's grammar and reports whether it is a watch of the old form:
//
//	/api/<version>/..., /apis/<group>/<version>/...
//	... [watch/] [namespaces/<namespace>/] <resource> [/<name> [/<subresource>]]
//
// The path of a Namespace is "namespaces/<name>", with the subresources status and finalize.
func target(c *Call, path string) (watched bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		c.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		c.Group, c.Version, parts = parts[1], parts[2], parts[3:]
	default:
		c.Resource = "/" + strings.Trim(path, "/")
		return false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		parts, watched = parts[1:], true
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		c.Namespace, parts = parts[1], parts[2:]
	}
	c.Resource = parts[0]
	if len(parts) > 1 {
		c.Name = parts[1]
	}
	if len(parts) > 2 {
		c.Subresource = strings.Join(parts[2:], "/")
	}
	return watched
}
