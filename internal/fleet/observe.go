package fleet

import (
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/urgency"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// reduce turns what the API server sent into what is kept.
func (r *Runtime) reduce(o *wireObject, gvk schema.GroupVersionKind, n needs) *object {
	kept := &object{
		uid:         o.Metadata.UID,
		version:     numeric(o.Metadata.ResourceVersion),
		fields:      unique.Make(inventory.FieldsHash(o.Metadata.managed(r.cfg.FieldManager), r.cfg.FieldManager)),
		owner:       unique.Make(o.Metadata.Annotations[r.cfg.OwnerKey]),
		terminating: o.Metadata.DeletionTimestamp != "",
		spared:      o.Metadata.Annotations[apply.AnnotationKeep] == "true",
	}
	if n.health || n.state {
		full := o.object(gvk.GroupVersion().String(), gvk.Kind)
		kept.judge(full, n)
		if gvk.GroupKind() == crdKind {
			r.served.learn(full)
		}
	}
	if n.keep {
		kept.body = bodyOf(readMap(o.whole), gvk)
	}
	return kept
}

// judge fills in what full objects are read for.
func (o *object) judge(full *unstructured.Unstructured, n needs) {
	if n.health {
		result := health.Of(full)
		o.health = &result
	}
	if n.state {
		state, message := health.ModuleState(full)
		o.state = &moduleState{state, message}
	}
}

// observe takes an event of a stream: after is nil for an object that is gone. The last events of a stream that shows less than is wanted
// by now are left to the list that follows.
func (r *Runtime) observe(k *kind, s *stream, o *wireObject, after *object) error {
	at := placeOf(o.Metadata.Namespace, o.Metadata.Name)
	now := numeric(o.Metadata.ResourceVersion)
	r.mu.Lock()
	if !s.needs.has(k.wish.needs) || s.only != k.wish.only {
		r.mu.Unlock()
		return nil
	}
	k.reached(o.Metadata.ResourceVersion)
	before := k.objects[at]
	var told []types.NamespacedName
	var err error
	if r.kinds[k.gk] == k && !before.stale(now) {
		err = r.grow(k, at, before, after)
		told = r.withoutEchoes(k, at, before, after)
	}
	r.mu.Unlock()
	r.conn.tell(urgency.Now, told...)
	return err
}

// bookmark notes how far a stream has come.
func (r *Runtime) bookmark(k *kind, resourceVersion string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k.reached(resourceVersion)
}

func (k *kind) reached(resourceVersion string) {
	if resourceVersion != "" {
		k.resume, k.seen = resourceVersion, max(k.seen, numeric(resourceVersion))
	}
}

// replace takes over a complete list that shows the state at a resourceVersion. The first one wakes nobody by itself: owners are
// announced to when all of their kinds are known. One that shows more of the objects than the list before tells what happened between
// the two; that more is shown is no event. The caller holds the lock, and announces.
func (r *Runtime) replace(k *kind, listed map[place]*object, at uint64) []types.NamespacedName {
	put := r.withoutEchoes
	if !k.known {
		put = func(k *kind, where place, before, after *object) []types.NamespacedName {
			r.put(k, where, before, after)
			return nil
		}
	}
	var told []types.NamespacedName
	for where, after := range listed {
		delete(k.condemned, where) // what a list shows counts: a cluster can come back from a backup
		switch before := k.objects[where]; {
		case before.same(after):
			before.complete(after)
		case !before.stale(after.version):
			told = append(told, put(k, where, before, after)...)
		}
	}
	for where, before := range k.objects {
		if listed[where] == nil && (at == 0 || before.version <= at) {
			told = append(told, put(k, where, before, nil)...)
		}
	}
	k.synced, k.known, k.settled, k.seen = true, true, true, max(k.seen, at)
	r.reread(k)
	return told
}

// reread asks anew for the health of what was not ready before a list: what became so before it is told by no event after it. The caller
// holds the lock.
func (r *Runtime) reread(k *kind) {
	if !k.readable() {
		return
	}
	for where, o := range k.objects {
		if o.health != nil && !o.ready() && !o.terminating {
			r.read(k, where)
		}
	}
}

// withoutEchoes puts an object into the store and says who has to know. When the change may be a write of ours that is still under way,
// the answer to it gets a moment to say so. The caller holds the lock.
func (r *Runtime) withoutEchoes(k *kind, at place, before, after *object) []types.NamespacedName {
	c := r.put(k, at, before, after)
	owners := r.affected(k, c, before, after)
	echo := r.conn.writes.recent() && (c&echoing != 0 || c == touched) && c&^(echoing|allied) == 0 && !r.takenOver(before, after)
	if k.readable() && k.synced && after != nil && !after.ready() && (!echo || c&appeared == 0) {
		r.read(k, at)
	}
	if k.gk == crdKind && k.wish.needs.full() && c&(appeared|reassessed) != 0 {
		r.assessed(k, at)
	}
	if echo && len(owners) > 0 {
		r.postpone(subject{k.gk, at}, after.version, owners)
		return nil
	}
	return owners
}

// put changes the store. The caller holds the lock.
func (r *Runtime) put(k *kind, at place, before, after *object) change {
	if after == nil {
		if before == nil {
			return 0
		}
		delete(k.objects, at)
		delete(k.condemned, at)
		if k.gk == crdKind {
			r.served.dropped(at.name.Value())
		}
		return vanished
	}
	if k.readable() && before != nil && before.uid == after.uid && after.health == nil {
		after.health = before.health
	}
	k.objects[at] = after
	return compare(before, after)
}

// takenOver says that an object changed hands: the one who lost it has not written that, and must know.
func (r *Runtime) takenOver(before, after *object) bool {
	if before == nil || after == nil || before.owner == after.owner {
		return false
	}
	_, tracks := r.ownerOf(before)
	return tracks
}

// ready says that nothing more is to be learned about an object's health.
func (o *object) ready() bool { return o.health != nil && o.health.Status == health.Ready }

// affected lists the owners that a change concerns, as far as they track the runtime: whoever writes to a runtime can put any name into
// an annotation. The caller holds the lock.
func (r *Runtime) affected(k *kind, c change, before, after *object) []types.NamespacedName {
	var owners []types.NamespacedName
	if c != 0 && k.wish.needs.copies {
		owners = r.trackers(k, needs{copies: true})
	}
	if c &^= touched; c != 0 {
		owners = append(owners, r.interested(k, c, before, after)...)
	}
	return owners
}

// interested lists the owners that a change of what an object says concerns.
func (r *Runtime) interested(k *kind, c change, before, after *object) []types.NamespacedName {
	asked := needs{keep: c&^intimate == 0}
	var owners []types.NamespacedName
	for _, o := range []*object{before, after} {
		if o == nil {
			continue
		}
		owner, ok := r.ownerOf(o)
		if ok && (len(owners) == 0 || owners[0] != owner) && r.owners[owner].wishes[k.gk].needs.has(asked) {
			owners = append(owners, owner)
		}
	}
	switch {
	case !k.wish.needs.state:
	case c&reporting != 0:
		owners = append(owners, r.trackers(k, needs{state: true})...)
	case c&intimate != 0:
		owners = append(owners, r.trackers(k, needs{state: true, keep: true})...)
	}
	return owners
}

func (r *Runtime) ownerOf(o *object) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(o.owner.Value(), "/")
	if !ok {
		return types.NamespacedName{}, false
	}
	owner := types.NamespacedName{Namespace: namespace, Name: name}
	_, tracks := r.owners[owner]
	return owner, tracks
}

// trackers lists the owners that track a kind for at least the given needs. The caller holds the lock.
func (r *Runtime) trackers(k *kind, n needs) []types.NamespacedName {
	var owners []types.NamespacedName
	for owner, t := range r.owners {
		if w, ok := t.wishes[k.gk]; ok && w.needs.has(n) {
			owners = append(owners, owner)
		}
	}
	return owners
}
