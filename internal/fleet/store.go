package fleet

import (
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// place is where an object is, within its kind. The same names occur in thousands of runtimes, so they are stored once.
type place struct{ namespace, name unique.Handle[string] }

func placeOf(namespace, name string) place {
	return place{unique.Make(namespace), unique.Make(name)}
}

// object is all that is kept of one object.
type object struct {
	uid         types.UID
	version     uint64 // resourceVersion as a number
	fields      unique.Handle[string]
	owner       unique.Handle[string]
	terminating bool
	spared      bool           // carries apply.AnnotationKeep
	health      *health.Result // of kinds that have one; nil while it is not known
	state       *moduleState   // of module CRs
	body        *body          // of kinds that are kept
}

// complete takes over what was not read of the same version before, because nobody wanted it then.
func (o *object) complete(from *object) {
	if o.health == nil {
		o.health = from.health
	}
	if o.state == nil {
		o.state = from.state
	}
	if o.body == nil {
		o.body = from.body
	}
}

// same says that both show one object at one moment.
func (o *object) same(other *object) bool {
	return o != nil && o.uid == other.uid && o.version != 0 && o.version == other.version
}

type moduleState struct{ state, message string }

func (o *object) live() inventory.Live {
	return inventory.Live{
		Presence: inventory.Present, UID: o.uid, Fields: o.fields.Value(), Owner: o.owner.Value(), Terminating: o.terminating,
	}
}

// change says what an event made different. A bare change of the resourceVersion concerns only those who keep copies.
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
	touched    // the resourceVersion, whatever it is that changed
)

// echoing are the changes that a write of ours brings about, and that its answer is about to tell anyway. What comes along with them
// (allied) does not speak against it.
const (
	echoing = appeared | replaced | refielded | reowned | rewritten
	allied  = reassessed | restated | restatused | touched
)

// intimate are the changes that only those are told who track the kind with Keep.
const intimate = rewritten | restatused

// reporting are the changes of a module CR that concern everybody who tracks its kind.
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
	set(before.version != after.version, touched)
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

// sameHealth does not compare what a ready object has to say: a Deployment that scales from two to three replicas is no news.
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

// stale says that something newer is known of the object already. Versions that are no numbers are never stale.
func (o *object) stale(version uint64) bool {
	return o != nil && version != 0 && o.version != 0 && version <= o.version
}
