package simruntime

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// remembered is how many events of a resource are told to who watches on from the past.
const remembered = 1000

type place struct{ namespace, name string }

// tableLocked is one resource of one runtime. Everything in it is guarded by the lock of the runtime.
type table struct {
	kind      *kind
	objects   map[place]*object
	history   []event
	forgotten uint64 // events up to this version are no longer in the history
	compacted uint64 // no one may begin before this version
	watchers  map[*watcher]struct{}
}

type change byte

const (
	added change = iota
	modified
	deleted
)

var changeNames = [...]string{"ADDED", "MODIFIED", "DELETED"}

// event is one change. What was there before counts by its labels alone: they decide what a selector makes of it.
type event struct {
	change change
	object *object
	before labelSet
}

func newTable(k *kind) *table {
	return &table{kind: k, objects: make(map[place]*object), watchers: make(map[*watcher]struct{})}
}

// sorted lists objects in the order in which API servers do.
func (t *table) sorted() []*object {
	return slices.SortedFunc(maps.Values(t.objects), func(a, b *object) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
}

// tell remembers an event and wakes who waits for one.
func (t *table) tell(e event) {
	if len(t.history) >= 2*remembered {
		t.forgotten = t.history[len(t.history)-remembered-1].object.version
		t.history = slices.Clone(t.history[len(t.history)-remembered:])
	}
	t.history = append(t.history, e)
	for w := range t.watchers {
		w.wake()
	}
}

// since returns the events after a version; ok is false when they are not all remembered.
func (t *table) since(version uint64) (events []event, ok bool) {
	if version < t.forgotten {
		return nil, false
	}
	at, _ := slices.BinarySearchFunc(t.history, version, func(e event, v uint64) int { return cmp.Compare(e.object.version, v+1) })
	return t.history[at:], true
}

// nextLocked counts a write. The caller holds the lock.
func (r *Runtime) nextLocked() {
	r.version++
	r.counter.revisions.Add(1)
}

// putLocked stores a document. The caller holds the lock.
func (r *Runtime) putLocked(t *table, before *object, d *document) (*object, error) {
	o, err := d.seal(r.version + 1)
	if err != nil {
		return nil, err
	}
	r.nextLocked()
	e := event{change: added, object: o}
	if before != nil {
		e.change, e.before = modified, before.labels
	}
	t.objects[place{o.namespace, o.name}] = o
	t.tell(e)
	r.storedLocked(t, o, d)
	return o, nil
}

// dropLocked removes an object for good; what is told is its last state. The caller holds the lock.
func (r *Runtime) dropLocked(t *table, before *object, d *document) error {
	o, err := d.seal(r.version + 1)
	if err != nil {
		return err
	}
	r.nextLocked()
	delete(t.objects, place{o.namespace, o.name})
	t.tell(event{change: deleted, object: o, before: before.labels})
	r.droppedLocked(t, o, d)
	return nil
}

// findLocked returns the table of a resource; nil when it is not served. The caller holds the lock.
func (r *Runtime) findLocked(gr schema.GroupResource) *table {
	if t := r.tables[gr]; t != nil {
		return t
	}
	k := r.fleet.own[gr]
	if k == nil {
		return nil
	}
	t := newTable(k)
	r.tables[gr] = t
	return t
}
