package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCallsReadPaths(t *testing.T) {
	for _, c := range []struct {
		name, method, path, want string
		mutating                 bool
	}{
		{"a list", http.MethodGet, "/api/v1/namespaces/a/secrets?limit=5", "list secrets a/", false},
		{"a list of all namespaces", http.MethodGet, "/api/v1/secrets", "list secrets", false},
		{"a watch", http.MethodGet, "/apis/apps/v1/deployments?watch=1", "watch deployments.apps", false},
		{"a watch of the old kind", http.MethodGet, "/apis/apps/v1/watch/namespaces/a/deployments", "watch deployments.apps a/", false},
		{"a namespace", http.MethodGet, "/api/v1/namespaces/a", "get namespaces a", false},
		{"a namespace's status", http.MethodPut, "/api/v1/namespaces/a/status", "update namespaces/status a", true},
		{"a status", http.MethodPatch, "/apis/apps/v1/namespaces/a/deployments/b/status", "patch deployments.apps/status a/b", true},
		{"a collection that is deleted", http.MethodDelete, "/api/v1/namespaces/a/secrets", "deletecollection secrets a/", true},
		{"a dry run changes nothing", http.MethodDelete, "/api/v1/namespaces/a/secrets/b?dryRun=All", "delete secrets a/b", false},
		{"a review changes nothing", http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			"create selfsubjectaccessreviews.authorization.k8s.io", false},
		{"discovery", http.MethodGet, "/apis", "get /apis", false},
		{"the OpenAPI documents", http.MethodGet, "/openapi/v3/apis/apps/v1", "get /openapi/v3/apis/apps/v1", false},
		{"a registry's blob", http.MethodHead, "/v2/a/b/blobs/sha256:1", "head /v2/a/b/blobs/sha256:1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := read(httptest.NewRequest(c.method, c.path, nil))
			if call.String() != c.want || call.Mutating != c.mutating {
				t.Errorf("%s, mutating %v; want %s, %v", call, call.Mutating, c.want, c.mutating)
			}
		})
	}
}
