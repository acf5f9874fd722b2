package setup

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counted counts the searches.
type counted struct {
	*meta.DefaultRESTMapper

	searches int
}

func (c *counted) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	c.searches++
	return c.DefaultRESTMapper.RESTMapping(gk, versions...)
}

func TestMapper_AKindIsFoundOnce(t *testing.T) {
	behind := &counted{DefaultRESTMapper: meta.NewDefaultRESTMapper(nil)}
	mapper := &cachingMapper{RESTMapper: behind}
	kyma := schema.GroupVersionKind{Group: "operator.kyma-project.io", Version: "v1beta2", Kind: "Kyma"}
	if mapping, err := mapper.RESTMapping(kyma.GroupKind(), kyma.Version); !meta.IsNoMatchError(err) {
		t.Fatalf("a kind that no one serves: %v, %v", mapping, err)
	}
	behind.Add(kyma, meta.RESTScopeNamespace)
	behind.searches = 0
	for range 3 {
		mapping, err := mapper.RESTMapping(kyma.GroupKind(), kyma.Version)
		if err != nil || mapping.Resource.Resource != "kymas" || mapping.Scope != meta.RESTScopeNamespace {
			t.Fatalf("a kind that is served since: %v, %v", mapping, err)
		}
	}
	if behind.searches != 1 {
		t.Errorf("searched %d times, want once", behind.searches)
	}
	if _, err := mapper.RESTMapping(kyma.GroupKind(), "v1", "v1beta2"); err != nil || behind.searches != 2 {
		t.Errorf("a choice of versions is left to the mapper behind: %v, %d searches", err, behind.searches)
	}
}
