package clustercache

import (
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// reduce returns the cached form of an object from the API server.
func (r *Runtime) reduce(o *wire.Object, gvk schema.GroupVersionKind, n readLevel) *object {
	if isClaimed(gvk.GroupKind(), o.Metadata.Name) {
		r.observeClaim(&o.Metadata)
	}
	kept := &object{
		uid:         o.Metadata.UID,
		version:     wire.Numeric(o.Metadata.ResourceVersion),
		fields:      unique.Make(inventory.FieldsHash(o.Metadata.ManagedBy(r.cfg.FieldManager), r.cfg.FieldManager)),
		owner:       unique.Make(o.Metadata.Annotations[r.cfg.OwnerKey]),
		terminating: o.Metadata.DeletionTimestamp != "",
		spared:      o.Metadata.Annotations[apply.AnnotationKeep] == "true",
	}
	if gvk.GroupKind() == inventory.CRDKind {
		kept.digest = inventory.DefinitionDigest(o.Metadata.Definition())
	}
	if n.health || n.state {
		full := o.Unstructured(gvk.GroupVersion().String(), gvk.Kind)
		kept.judge(full, n)
		if gvk.GroupKind() == inventory.CRDKind {
			r.served.observeDefinition(full)
		}
	}
	if n.keep {
		kept.body = bodyOf(wire.ReadMap(o.Whole), gvk)
	}
	return kept
}

// judge sets the fields that need a full object.
func (o *object) judge(full *unstructured.Unstructured, n readLevel) {
	if n.health {
		result := health.Of(full)
		o.health = &result
	}
	if n.state {
		state, message := health.ModuleState(full)
		o.state = &moduleState{state, message}
	}
}

// observe handles an event of a stream: after is nil for a deleted object. When the kind's needs have grown beyond the stream's, its last
// events are left to the list that follows.
func (r *Runtime) observe(k *kind, s *stream, o *wire.Object, after *object) error {
	at := placeOf(o.Metadata.Namespace, o.Metadata.Name)
	now := wire.Numeric(o.Metadata.ResourceVersion)
	r.mu.Lock()
	if !s.needs.has(k.spec.needs) || s.only != k.spec.only {
		r.mu.Unlock()
		return nil
	}
	k.reached(o.Metadata.ResourceVersion)
	before := k.objects[at]
	var told []types.NamespacedName
	var err error
	if r.kinds[k.gk] == k && !before.stale(now) {
		err = r.countObjectLocked(k, at, before, after)
		told = r.storeEventLocked(k, at, before, after)
	}
	r.mu.Unlock()
	r.conn.tell(priority.Now, told...)
	return err
}

// bookmark records the resourceVersion that a stream has reached.
func (r *Runtime) bookmark(k *kind, resourceVersion string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k.reached(resourceVersion)
}

func (k *kind) reached(resourceVersion string) {
	if resourceVersion != "" {
		k.resume, k.seen = resourceVersion, max(k.seen, wire.Numeric(resourceVersion))
	}
}

// replaceObjectsLocked stores a complete list that shows the state at a resourceVersion. The first one enqueues no owners by itself: they
// are enqueued when all of their kinds are known. A list with a wider readLevel reports what changed since the list before; the additional
// fields are no event. The caller holds the lock, and enqueues the owners.
func (r *Runtime) replaceObjectsLocked(k *kind, listed map[objectKey]*object, at uint64) []types.NamespacedName {
	put := r.storeEventLocked
	if !k.known {
		put = func(k *kind, where objectKey, before, after *object) []types.NamespacedName {
			r.storeObjectLocked(k, where, before, after)
			return nil
		}
	}
	var told []types.NamespacedName
	for where, after := range listed {
		delete(k.pendingDeletes, where) // what a list shows counts: a cluster can come back from a backup
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
	r.rereadHealthLocked(k)
	return told
}

// rereadHealthLocked reads the health again of objects that were not ready before a list: no later event reports those that became ready
// before it. The caller holds the lock.
func (r *Runtime) rereadHealthLocked(k *kind) {
	if !k.readsHealth() {
		return
	}
	for where, o := range k.objects {
		if o.health != nil && !o.ready() && !o.terminating {
			r.readHealthLocked(k, where, 0)
		}
	}
}

// storeEventLocked stores an object and returns the owners to enqueue. When the change may be caused by our own write that is still in
// progress, it waits for the write's response. The caller holds the lock.
func (r *Runtime) storeEventLocked(k *kind, at objectKey, before, after *object) []types.NamespacedName {
	c := r.storeObjectLocked(k, at, before, after)
	owners := r.affectedOwnersLocked(k, c, before, after)
	echo := r.conn.writes.recent() && (c&echoing != 0 || c == touched) && c&^(echoing|allied) == 0 && !r.takenOver(before, after)
	if echo && c&appeared != 0 && k.gk == inventory.CRDKind {
		after.blank = true // until the response of the write says otherwise
	}
	if k.readsHealth() && k.synced && after != nil && !after.ready() && (!echo || c&appeared == 0) {
		r.readHealthLocked(k, at, pauseBeforeRead(before, after))
	}
	if servedKind(k.gk) == inventory.CRDKind && k.spec.needs.full() && c&(appeared|reassessed) != 0 {
		r.applyHealthLocked(k, at)
	}
	if echo && len(owners) > 0 && servedKind(k.gk) == k.gk { // no write's response tells of a definition alone
		r.postponeEventLocked(subject{k.gk, at}, after.version, owners)
		return nil
	}
	return owners
}

// storeObjectLocked updates the store. The caller holds the lock.
func (r *Runtime) storeObjectLocked(k *kind, at objectKey, before, after *object) change {
	if after == nil {
		if before == nil {
			return 0
		}
		delete(k.objects, at)
		delete(k.pendingDeletes, at)
		if isClaimed(k.gk, at.name.Value()) {
			r.conn.claim.lose()
		}
		if servedKind(k.gk) == inventory.CRDKind {
			r.served.forgetDefinition(at.name.Value())
		}
		return vanished
	}
	if k.readsHealth() && before != nil && before.uid == after.uid && after.health == nil {
		after.health, after.looks = before.health, before.looks
	}
	if after.terminating && servedKind(k.gk) == inventory.CRDKind {
		r.served.markLeaving(at.name.Value())
	}
	k.objects[at] = after
	return compare(before, after)
}

// takenOver reports whether an object changed its owner: the previous owner did not write that, and must be enqueued.
func (r *Runtime) takenOver(before, after *object) bool {
	if before == nil || after == nil || before.owner == after.owner {
		return false
	}
	_, tracks := r.ownerOf(before)
	return tracks
}

// ready reports whether an object's health is final.
func (o *object) ready() bool { return o.health != nil && o.health.Status == health.Ready }

// affectedOwnersLocked returns the owners that a change concerns, if they track the runtime: any user of a runtime can write any name into
// an annotation. The caller holds the lock.
func (r *Runtime) affectedOwnersLocked(k *kind, c change, before, after *object) []types.NamespacedName {
	var owners []types.NamespacedName
	if c != 0 && k.spec.needs.copies {
		owners = r.trackingOwnersLocked(k, readLevel{copies: true})
	}
	if c &^= touched; c != 0 {
		owners = append(owners, r.interestedOwners(k, c, before, after)...)
	}
	return owners
}

// interestedOwners returns the owners that a change of an object's content concerns.
func (r *Runtime) interestedOwners(k *kind, c change, before, after *object) []types.NamespacedName {
	asked := readLevel{keep: c&^intimate == 0}
	var owners []types.NamespacedName
	for _, o := range []*object{before, after} {
		if o == nil {
			continue
		}
		owner, ok := r.ownerOf(o)
		if ok && (len(owners) == 0 || owners[0] != owner) && r.owners[owner].specs[k.gk].needs.has(asked) {
			owners = append(owners, owner)
		}
	}
	switch {
	case !k.spec.needs.state:
	case c&reporting != 0:
		owners = append(owners, r.trackingOwnersLocked(k, readLevel{state: true})...)
	case c&intimate != 0:
		owners = append(owners, r.trackingOwnersLocked(k, readLevel{state: true, keep: true})...)
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

// trackingOwnersLocked returns the owners that track a kind with at least the given needs. The caller holds the lock.
func (r *Runtime) trackingOwnersLocked(k *kind, n readLevel) []types.NamespacedName {
	var owners []types.NamespacedName
	for owner, t := range r.owners {
		if w, ok := t.specs[k.gk]; ok && w.needs.has(n) {
			owners = append(owners, owner)
		}
	}
	return owners
}
