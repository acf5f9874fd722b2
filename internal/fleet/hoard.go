package fleet

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// maxKept bounds what is kept of all objects of one runtime, and once more what its lists gather before they replace that. It is some
	// 20,000 objects of which nobody wants more than their metadata.
	maxKept = 16 << 20
	// objectWeight is what an object costs in memory beside its texts.
	objectWeight = 512
	// growthLooked is how much a kind grows by its stream before somebody looks how much there is of everything.
	growthLooked = 1 << 20
	// maxReads bounds the objects of one runtime whose health is being read one by one.
	maxReads = 1000
)

// weightOf is about what an object and its name take in memory.
func weightOf(at place, o *object) int64 {
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

// kept weighs all objects but those of one kind. The caller holds the lock.
func (r *Runtime) kept(but *kind) (weight int64) {
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

// grow takes note that a stream has brought an object, and says whether that is too much. The caller holds the lock.
func (r *Runtime) grow(k *kind, at place, before, after *object) error {
	if k.grown += weightOf(at, after) - weightOf(at, before); k.grown < growthLooked {
		return nil
	}
	k.grown = 0
	if r.kept(nil) > maxKept {
		return errTooMuch
	}
	return nil
}

// excess is what is said of a runtime that tells more than is kept.
type excess struct{}

// Error implements error.
func (excess) Error() string { return "there is more of it than is kept of one runtime" }

// errTooMuch stands for objects above maxKept.
var errTooMuch error = excess{}

// gathering is what a list has gathered so far.
type gathering struct {
	runtime *Runtime
	objects map[place]*object
	weight  int64
}

// take adds an object.
func (g *gathering) take(at place, o *object) error {
	weight := weightOf(at, o) - weightOf(at, g.objects[at]) // a page that was too large is read again, in smaller ones
	g.weight += weight
	g.objects[at] = o
	if g.runtime.gathered.Add(weight) > maxKept {
		return errTooMuch
	}
	return nil
}

// end is called when the list is over, however it ended.
func (g *gathering) end() { g.runtime.gathered.Add(-g.weight) }

// overfed notes that a kind is more than is read or kept. What was known of it stays.
func (r *Runtime) overfed(k *kind, err error) {
	r.barred(k, &Problem{
		Reason: v1beta2.ReasonRuntimeUnreachable, Err: err,
		Message: fmt.Sprintf("%s of the %s cannot be watched: %s", k.gk, r.conn.target, cause(err)),
	})
}

// barred notes why a kind cannot be read, and has those who track it told, once.
func (r *Runtime) barred(k *kind, p *Problem) {
	r.mu.Lock()
	news := k.problem == nil
	k.problem = p
	k.settled = true
	k.unknown(false)
	ready := r.announce()
	var told []types.NamespacedName
	if news {
		told = r.trackers(k, needs{})
	}
	r.assign()
	r.mu.Unlock()
	r.conn.tellOnce(told, ready)
}
