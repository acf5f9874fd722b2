package remotesync

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// youth is how long a kind counts as new to a runtime. An API server holds a create back for two seconds when it comes within two seconds
// after the definition was established, for other API servers of the cluster may not know the kind yet; the clocks of two machines may
// differ by the rest. It is a variable for tests: on a slow machine a kind would not be new any more when they check it.
var youth = 4 * time.Second

// WarmUpUntil returns until when a kind is so new to a runtime that its API server would hold a create back, and a worker with it; that
// time may have passed. An apply returns at once; where an API server does not know the kind yet, with an error that passes. A kind whose
// definition is being deleted is not new.
func WarmUpUntil(ctx context.Context, cluster *apply.Cluster, kind schema.GroupVersionKind) (until time.Time, err error) {
	resource, err := cluster.Resource(ctx, kind)
	if err != nil {
		return until, err
	}
	definition, err := get(ctx, cluster.Dynamic.Resource(inventory.CRDResource), resource.GroupResource().String())
	if definition == nil || err != nil {
		return until, err
	}
	return warmUpEnd(definition, time.Now()), nil
}

// warmUpEnd never returns a time far ahead, whatever clock the runtime has.
func warmUpEnd(definition object, now time.Time) time.Time {
	since, established := establishedSince(definition)
	if !established || definition.GetDeletionTimestamp() != nil {
		return time.Time{}
	}
	if since.After(now) {
		since = now
	}
	return since.Add(youth)
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

// ages caches until when kinds are new to the runtime, each read once.
type ages struct {
	mutex sync.Mutex
	until map[schema.GroupKind]time.Time
}

// isWarmingUp reads a kind's age once: not where an earlier pass found it new, nor where the runtime is known to hold objects of it.
func (p *pass) isWarmingUp(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	p.ages.mutex.Lock()
	defer p.ages.mutex.Unlock()
	gk := kind.GroupKind()
	until, asked := p.ages.until[gk]
	if !asked {
		until = p.memory.youngUntil(gk)
	}
	if objects, _ := p.runtime.Copies(gk); !asked && len(objects) == 0 && until.IsZero() {
		var err error
		if until, err = WarmUpUntil(ctx, p.Cluster, kind); err != nil {
			return false, err
		}
		p.memory.isYoung(gk, until)
	}
	if p.ages.until == nil {
		p.ages.until = map[schema.GroupKind]time.Time{}
	}
	p.ages.until[gk] = until
	return time.Now().Before(until), nil
}

// warmUpEnd returns the result of an earlier pass, as long as it matters.
func (m *memory) youngUntil(gk schema.GroupKind) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !time.Now().Before(m.young[gk]) {
		delete(m.young, gk)
	}
	return m.young[gk]
}

func (m *memory) isYoung(gk schema.GroupKind, until time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.young == nil {
		m.young = map[schema.GroupKind]time.Time{}
	}
	m.young[gk] = until
}
