package clustercache

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An unserved recorded version does not prove that an object is gone: all served versions are checked.
func TestVersions_OfKind(t *testing.T) {
	const things = `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.com"},"versions":[
		{"version":"v2","resources":[{"resource":"things","responseKind":{"kind":"Thing"},"scope":"Namespaced","verbs":["list","delete"]}]},
		{"version":"v1","resources":[{"resource":"things","responseKind":{"kind":"Thing"},"scope":"Namespaced","verbs":["list","delete"]}]},
		{"version":"v1alpha1","resources":[{"resource":"others","responseKind":{"kind":"Other"},"scope":"Namespaced","verbs":["list"]}]}]},
		{"metadata":{"name":"silent.example.com"},"versions":[{"version":"v1","freshness":"Stale"}]}]}`
	s := newStub(t)
	s.on("GET /api", jsonAnswer(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[
		{"version":"v1","resources":[{"resource":"configmaps","responseKind":{"kind":"ConfigMap"},"verbs":["list","delete"]}]}]}]}`))
	s.on("GET /apis", jsonAnswer(things))
	b := newBench(t, nil)
	r := b.mustGet(t, b.remote(t, "versions", s.config()))
	for _, test := range []struct {
		kind    schema.GroupKind
		want    []string
		refused bool
	}{
		{schema.GroupKind{Group: "example.com", Kind: "Thing"}, []string{"v1", "v2"}, false},
		{schema.GroupKind{Group: "example.com", Kind: "Missing"}, nil, false},
		{schema.GroupKind{Group: "other.com", Kind: "Thing"}, nil, false},
		{schema.GroupKind{Kind: "ConfigMap"}, []string{"v1"}, false},
		{schema.GroupKind{Group: "silent.example.com", Kind: "Thing"}, nil, true}, // its server may come back with all of its objects
	} {
		got, err := r.Cluster().Versions(t.Context(), test.kind)
		if !slices.Equal(got, test.want) || (err != nil) != test.refused {
			t.Errorf("%s: got %v, error %v; want %v", test.kind, got, err, test.want)
		}
	}
}
