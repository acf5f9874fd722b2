package clustercache

import (
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// objectKey identifies an object within its kind. The same names occur in thousands of runtimes, so they are stored once.
type objectKey struct{ namespace, name unique.Handle[string] }

func placeOf(namespace, name string) objectKey {
	return objectKey{unique.Make(namespace), unique.Make(name)}
}

// object is the cached state of one object.
type object struct {
	uid         types.UID
	version     uint64 // resourceVersion as a number
	digest      uint64 // of definitions: of everything but the status
	fields      unique.Handle[string]
	owner       unique.Handle[string]
	terminating bool
	spared      bool           // carries apply.AnnotationKeep
	blank       bool           // a definition as its creation left it, which the API server has not looked at
	looks       uint8          // how often it was read, and was not ready
	health      *health.Result // of kinds that have one; nil while it is not known
	state       *moduleState   // of module CRs
	body        *rawObject     // of kinds that are kept
}

// complete copies the fields that were not read of the same version before, because no owner needed them then.
func (o *object) complete(from *object) {
	if o.health == nil {
		o.health, o.blank = from.health, from.blank
	}
	if o.state == nil {
		o.state = from.state
	}
	if o.body == nil {
		o.body = from.body
	}
}

// same reports whether both are the same version of one object.
func (o *object) same(other *object) bool {
	return o != nil && o.uid == other.uid && o.version != 0 && o.version == other.version
}

type moduleState struct{ state, message string }

func (o *object) live() inventory.Live {
	return inventory.Live{
		Presence: inventory.Present, UID: o.uid, Fields: o.fields.Value(), Owner: o.owner.Value(), Terminating: o.terminating,
	}
}

// mark is what differs between two versions of an object. The status of a definition does not count: the API server writes it several times
// while it establishes one, and whether it is established is health.
func (o *object) mark() uint64 {
	if o.digest != 0 {
		return o.digest
	}
	return o.version
}

// change is the set of differences that an event made. A bare change of the mark concerns only owners that keep copies.
type change uint16

const (
	appeared change = 1 << iota
	vanished
	replaced // another UID
	refielded
	reowned
	terminated
	reassessed // health
	restated   // module CR
	rewritten  // anything but the status, of a kept kind
	restatused // the status, of a kept kind
	touched    // the mark, whatever it is that changed
)

// echoing are the changes that our own write causes, and that its response is about to show anyway. Changes that accompany them
// (allied) do not count against that.
const (
	echoing = appeared | replaced | refielded | reowned | rewritten
	allied  = reassessed | restated | restatused | touched
)

// intimate are the changes for which only owners that track the kind with Keep are enqueued.
const intimate = rewritten | restatused

// reporting are the changes of a module CR that concern all owners that track its kind.
const reporting = appeared | vanished | replaced | terminated | restated

func compare(before, after *object) change {
	if before == nil {
		return appeared
	}
	var c change
	set := func(differs bool, bit change) {
		if differs {
			c |= bit
		}
	}
	set(before.uid != after.uid, replaced)
	set(before.mark() != after.mark(), touched)
	set(before.fields != after.fields, refielded)
	set(before.owner != after.owner, reowned)
	set(before.terminating != after.terminating, terminated)
	set(!sameHealth(before.health, after.health), reassessed)
	set(!sameState(before.state, after.state), restated)
	if before.body != nil && after.body != nil {
		set(before.body.rest != after.body.rest, rewritten)
		set(before.body.status != after.body.status, restatused)
	}
	return c
}

// sameHealth ignores the message of a ready object: a Deployment that scales from two to three replicas is no relevant change.
func sameHealth(a, b *health.Result) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status && (a.Status == health.Ready || a.Message == b.Message)
}

func sameState(a, b *moduleState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// stale reports whether a newer version of the object is known already. Versions that are not numbers are never stale.
func (o *object) stale(version uint64) bool {
	return o != nil && version != 0 && o.version != 0 && version <= o.version
}
