package clustercache

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

const (
	// maxKept bounds the objects kept of one runtime, and separately what its lists buffer before they replace them. It is some
	// 20,000 objects of which only metadata is kept.
	maxKept = 16 << 20
	// objectWeight is the memory that an object costs besides its texts.
	objectWeight = 512
	// growthLooked is how much a kind grows by its stream before the total is checked.
	growthLooked = 1 << 20
	// maxReads bounds the objects of one runtime whose health is being read one by one.
	maxReads = 1000
)

// weightOf estimates the memory of an object and its name.
func weightOf(at objectKey, o *object) int64 {
	if o == nil {
		return 0
	}
	n := objectWeight + len(at.namespace.Value()) + len(at.name.Value()) + len(o.uid) + len(o.owner.Value()) + len(o.fields.Value())
	if o.health != nil {
		n += len(o.health.Message)
	}
	if o.state != nil {
		n += len(o.state.state) + len(o.state.message)
	}
	if o.body != nil {
		n += len(o.body.rest) + len(o.body.status)
	}
	return int64(n)
}

// weighOtherKindsLocked returns the weight of all objects but those of one kind. The caller holds the lock.
func (r *Runtime) weighOtherKindsLocked(but *kind) (weight int64) {
	for _, k := range r.kinds {
		if k == but {
			continue
		}
		for at, o := range k.objects {
			weight += weightOf(at, o)
		}
	}
	return weight
}

// countObjectLocked records that a stream added an object, and returns an error when the budget is exceeded. The caller holds the lock.
func (r *Runtime) countObjectLocked(k *kind, at objectKey, before, after *object) error {
	if k.grown += weightOf(at, after) - weightOf(at, before); k.grown < growthLooked {
		return nil
	}
	k.grown = 0
	if r.weighOtherKindsLocked(nil) > maxKept {
		return errTooMuch
	}
	return nil
}

// memoryExceeded is the error for a runtime that exceeds its memory budget.
type memoryExceeded struct{}

// Error implements error.
func (memoryExceeded) Error() string { return "there is more of it than is kept of one runtime" }

// errTooMuch is the error for objects above maxKept.
var errTooMuch error = memoryExceeded{}

// listBuffer holds the objects of a list in progress.
type listBuffer struct {
	runtime *Runtime
	objects map[objectKey]*object
	weight  int64
}

// take adds an object.
func (g *listBuffer) take(at objectKey, o *object) error {
	weight := weightOf(at, o) - weightOf(at, g.objects[at]) // a page that was too large is read again, in smaller ones
	g.weight += weight
	g.objects[at] = o
	if g.runtime.gathered.Add(weight) > maxKept {
		return errTooMuch
	}
	return nil
}

// end releases the buffered weight when the list has ended, with or without success.
func (g *listBuffer) end() { g.runtime.gathered.Add(-g.weight) }

// markOversized records that a kind exceeds the limits. What was known of it stays.
func (r *Runtime) markOversized(k *kind, err error) {
	r.markUnreadable(k, &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be watched: %s", k.gk, r.conn.target, cause(err)),
	})
}

// markUnreadable records why a kind cannot be read, and enqueues its owners, once.
func (r *Runtime) markUnreadable(k *kind, p *runtimes.Problem) {
	r.mu.Lock()
	news := k.problem == nil
	k.problem = p
	k.settled = true
	k.noteUnknown(false)
	ready := r.settledOwnersLocked()
	var told []types.NamespacedName
	if news {
		told = r.trackingOwnersLocked(k, readLevel{})
	}
	r.assignStreamsLocked()
	r.mu.Unlock()
	r.conn.tellOnce(told, ready)
}
