package setup

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// cachingMapper is a mapper that finds each kind once. The cache asks it at every read whether a kind has namespaces, and the mapper behind
// it looks through all groups and versions each time: a twelfth of what a manager at work allocated. What is not found is asked again.
// That mapper forgets nothing either.
type cachingMapper struct {
	meta.RESTMapper

	found sync.Map // *meta.RESTMapping by schema.GroupVersionKind
}

func newMapper(hub *rest.Config, http *http.Client) (meta.RESTMapper, error) {
	mapper, err := apiutil.NewDynamicRESTMapper(hub, http)
	if err != nil {
		return nil, err
	}
	return &cachingMapper{RESTMapper: mapper}, nil
}

// RESTMapping finds where a kind is served. Several versions are a search, which is left to the mapper behind.
func (r *cachingMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return r.RESTMapper.RESTMapping(gk, versions...)
	}
	gvk := gk.WithVersion(versions[0])
	known, _ := r.found.Load(gvk)
	if mapping, ok := known.(*meta.RESTMapping); ok {
		return mapping, nil
	}
	mapping, err := r.RESTMapper.RESTMapping(gk, versions...)
	if err == nil {
		r.found.Store(gvk, mapping)
	}
	return mapping, err
}
