package modulerollout

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// leastPause is the least time between two passes of one rollout that events caused: a fleet that upgrades sends thousands of them.
const leastPause = 200 * time.Millisecond

// count is what this replica knows of the Kymas of a rollout. Events only note which Kymas changed; the next pass looks at those.
type count struct {
	mu sync.Mutex
	// touched are the Kymas that changed since the last pass.
	touched map[string]struct{}
	// scheduled is true while a pass is in the queue because of an event; began is when the last pass began, by the
	// monotonic clock.
	scheduled bool
	began     time.Duration
	// names are the Kymas that have a record; every is true when every Kyma has the module.
	names map[string]struct{}
	every bool

	// basis is what the records were made by, beside their Kymas; records are by the name of their Kyma. Only a pass uses them.
	basis   string
	records map[string]*record
	// awaited are the Kymas that were admitted and have not begun, by channel. It is what no status has: the next owner begins without it.
	awaited map[string]map[string]rollout.Wait
	// clock compares two clocks, and horizon is the longest span that is measured.
	clock   rollout.Clock
	horizon time.Duration
}

// touch notes that a Kyma changed, and returns whether a pass must be enqueued for it, and after which pause. concerned is false when only
// a Kyma that has a record matters.
func (c *count) touch(kyma string, concerned bool, now time.Duration) (pause time.Duration, enqueue bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, counted := c.names[kyma]; !counted && !concerned {
		return 0, false
	}
	c.touched[kyma] = struct{}{}
	if c.scheduled {
		return 0, false
	}
	c.scheduled = true
	return max(0, c.began+leastPause-now), true
}

// everyone reports whether every Kyma has the module.
func (c *count) everyone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.every
}

// expect records before Kymas are listed whether every one has the module.
func (c *count) expect(every bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.every = every
}

// begin records that a pass begins, so that later events enqueue another one.
func (c *count) begin(now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scheduled, c.began = false, now
}

// take returns the Kymas that changed, and forgets that they did.
func (c *count) take() map[string]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	touched := c.touched
	c.touched = map[string]struct{}{}
	return touched
}

// restart makes the next pass look at every Kyma, since one could not.
func (c *count) restart() { c.basis = "" }

// keep stores what a pass found of a Kyma, nil for nothing.
func (c *count) keep(kyma string, found *record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found == nil {
		delete(c.records, kyma)
		delete(c.names, kyma)
		return
	}
	c.records[kyma] = found
	c.names[kyma] = struct{}{}
}

// counts are the rollouts that this replica counts.
type counts struct {
	mu    sync.Mutex
	known map[types.NamespacedName]*count
}

// of returns the count of a rollout, which begins with it.
func (c *counts) of(key types.NamespacedName) *count {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[types.NamespacedName]*count{}
	}
	if c.known[key] == nil {
		c.known[key] = &count{began: -leastPause, touched: map[string]struct{}{}, names: map[string]struct{}{}, records: map[string]*record{},
			awaited: map[string]map[string]rollout.Wait{}}
	}
	return c.known[key]
}

// get returns the count of a rollout, nil when it is not counted here.
func (c *counts) get(key types.NamespacedName) *count {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

// all returns the rollouts that are counted.
func (c *counts) all() []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.known))
}

// forget drops a rollout that is gone or another replica's, and reports whether it was known.
func (c *counts) forget(key types.NamespacedName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.known[key]
	delete(c.known, key)
	return known
}

// in returns the rollouts of a namespace.
func (c *counts) in(namespace string) map[types.NamespacedName]*count {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found map[types.NamespacedName]*count
	for key, one := range c.known {
		if key.Namespace != namespace {
			continue
		}
		if found == nil {
			found = map[types.NamespacedName]*count{}
		}
		found[key] = one
	}
	return found
}
