package mirror

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// youth is how long a kind counts as new to a runtime. An API server holds a create back for two seconds when it comes within two seconds
// after the definition was established, for other API servers of the cluster may not know the kind yet; the clocks of two machines may
// differ by the rest.
const youth = 4 * time.Second

var definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// Young says that a kind is so new to a runtime that its API server would hold a create back, and a worker with it. An apply is answered at
// once; where an API server does not know the kind yet, by an error that passes. A kind whose definition is being deleted is not young.
func Young(ctx context.Context, cluster *apply.Cluster, kind schema.GroupVersionKind) (bool, error) {
	resource, err := cluster.Resource(ctx, kind)
	if err != nil {
		return false, err
	}
	definitions, err := cluster.Resource(ctx, definitionKind)
	if err != nil {
		return false, err
	}
	definition, err := get(ctx, cluster.Dynamic.Resource(definitions.GroupVersionResource), resource.GroupResource().String())
	if definition == nil || err != nil {
		return false, err
	}
	return young(definition, time.Now()), nil
}

func young(definition object, now time.Time) bool {
	since, established := establishedSince(definition)
	return established && definition.GetDeletionTimestamp() == nil && now.Sub(since) < youth
}

func establishedSince(definition object) (time.Time, bool) {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		if condition["type"] != "Established" || condition["status"] != "True" {
			continue
		}
		text, _ := condition["lastTransitionTime"].(string)
		since, err := time.Parse(time.RFC3339, text)
		return since, err == nil
	}
	return time.Time{}, false
}

// ages are the answers of one pass.
type ages struct {
	mutex sync.Mutex
	young map[schema.GroupKind]bool
}

// young asks once for a kind, and only where the runtime is not known to hold objects of it.
func (p *pass) young(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	p.ages.mutex.Lock()
	defer p.ages.mutex.Unlock()
	if answer, known := p.ages.young[kind.GroupKind()]; known {
		return answer, nil
	}
	answer := false
	if objects, _ := p.runtime.Copies(kind.GroupKind()); len(objects) == 0 {
		var err error
		if answer, err = Young(ctx, p.Cluster, kind); err != nil {
			return false, err
		}
	}
	if p.ages.young == nil {
		p.ages.young = map[schema.GroupKind]bool{}
	}
	p.ages.young[kind.GroupKind()] = answer
	return answer, nil
}
