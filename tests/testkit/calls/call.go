package calls

import (
	"net/http"
	"strings"
)

// Verbs as RBAC and audit logs spell them.
const (
	Get    = "get"
	List   = "list"
	Watch  = "watch"
	Create = "create"
	Update = "update"
	Patch  = "patch"
	Delete = "delete"
)

// Call is a kind of request. It is comparable, and so a key of Counts.
type Call struct {
	Verb string
	// Resource is "secrets", "deployments.apps", "deployments.apps/status"; for a path that serves no resource, the path itself: "/version".
	Resource string
	// Agent is the user agent, by which the clients of a manager are distinguished.
	Agent string
}

// Write reports whether the call may change something. A review, such as a SelfSubjectAccessReview, is created to ask a question: nothing
// is stored, so that it counts as a read.
func (c Call) Write() bool {
	switch c.Verb {
	case Create:
		return !c.review()
	case Update, Patch, Delete:
		return true
	}
	return false
}

// review reports whether the resource is one of the reviews of Kubernetes' own groups. Kinds of other groups may end in that word and be
// stored.
func (c Call) review() bool {
	return strings.HasSuffix(c.Resource, "reviews.authorization.k8s.io") || strings.HasSuffix(c.Resource, "reviews.authentication.k8s.io")
}

// String returns "create deployments.apps (agent)".
func (c Call) String() string {
	text := c.Verb + " " + c.Resource
	if c.Agent != "" {
		text += " (" + c.Agent + ")"
	}
	return text
}

// Of returns the call of a request: the verb from method, path and query; the resource from the path.
func Of(request *http.Request) Call {
	resource, name, watched := target(request.URL.Path)
	call := Call{Resource: resource, Agent: request.UserAgent()}
	switch request.Method {
	case http.MethodPost:
		call.Verb = Create
	case http.MethodPut:
		call.Verb = Update
	case http.MethodPatch:
		call.Verb = Patch
	case http.MethodDelete:
		call.Verb = Delete
	default:
		watch := request.URL.Query().Get("watch")
		switch {
		case watched || watch == "true" || watch == "1":
			call.Verb = Watch
		case name == "" && !strings.HasPrefix(resource, "/"):
			call.Verb = List
		default:
			call.Verb = Get
		}
	}
	return call
}

// target parses the path of a request, by the API server's grammar, after the prefix of a proxy if there is one:
//
//	/api/<version>/..., /apis/<group>/<version>/...
//	... [watch/] [namespaces/<namespace>/] <resource> [/<name> [/<subresource>]]
//
// The path of a Namespace is "namespaces/<name>", with the subresources status and finalize.
func target(path string) (resource, name string, watched bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	for len(parts) > 0 && parts[0] != "api" && parts[0] != "apis" {
		parts = parts[1:]
	}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = "."+parts[1], parts[3:]
	default:
		return "/" + strings.Trim(path, "/"), "", false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		parts, watched = parts[1:], true
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	resource = parts[0] + group
	if len(parts) > 1 {
		name = parts[1]
	}
	if len(parts) > 2 {
		resource += "/" + strings.Join(parts[2:], "/")
	}
	return resource, name, watched
}
