package setup

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// cachingMapper is a mapper that looks up each kind once. The cache calls it at every read to find out whether a kind is namespaced, and
// the underlying mapper searches all groups and versions each time: that was a twelfth of the allocations of a busy manager. A kind that is
// not found is looked up again. The underlying mapper does not drop mappings either.
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

// RESTMapping returns the mapping of a kind. With several versions it is left to the underlying mapper.
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
