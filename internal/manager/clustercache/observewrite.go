package clustercache

import (
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// observeWrite stores an object as our own write returned it. The store has it at once, so that the stream's event is no change any more.
// Where the object changed hands by the write, both owners are enqueued: one of them did not make it.
func (r *Runtime) observeWrite(full *unstructured.Unstructured) {
	if full == nil {
		return
	}
	gk := full.GroupVersionKind().GroupKind()
	switch gk {
	case inventory.CRDKind:
		r.served.observeDefinition(full)
	case apiServiceKind:
		r.discoveryCache.invalidate()
	}
	r.mu.Lock()
	told := r.observeWriteLocked(gk, full)
	r.mu.Unlock()
	r.conn.tell(priority.Now, told...)
}

// observeWriteLocked returns the owners to enqueue. The caller holds the lock.
func (r *Runtime) observeWriteLocked(gk schema.GroupKind, full *unstructured.Unstructured) (told []types.NamespacedName) {
	k := r.kinds[gk]
	if k == nil || !k.spec.needs.state && !r.cfg.Selector.Matches(labels.Set(full.GetLabels())) {
		return nil // no stream would ever take it back
	}
	at := placeOf(full.GetNamespace(), full.GetName())
	if k.spec.only != (objectKey{}) && k.spec.only != at {
		return nil // neither would it
	}
	after := r.whole(full, k)
	before := k.objects[at]
	if before == nil && after.version != 0 && after.version <= k.seen {
		return nil // the stream has passed that moment, and the object has gone since
	}
	k.learned++
	if e, ok := r.echoes[subject{gk, at}]; ok && (after.version == 0 || e.version <= after.version) {
		delete(r.echoes, subject{gk, at})
	}
	switch {
	case !before.stale(after.version):
		if c := r.storeObjectLocked(k, at, before, after); c&reowned != 0 {
			told = r.interestedOwners(k, reowned, before, after)
		}
	case before.same(after):
		before.complete(after) // the stream was faster, and told metadata only
	case before.uid == after.uid && before.health == nil:
		before.health = after.health // the stream is ahead: its events keep the health of the version before
	}
	r.applyHealthLocked(k, at)
	return told
}

// whole returns the cached form of a complete object.
func (r *Runtime) whole(full *unstructured.Unstructured, k *kind) *object {
	o := &object{
		uid:         full.GetUID(),
		version:     wire.Numeric(full.GetResourceVersion()),
		fields:      unique.Make(inventory.FieldsOf(full, r.cfg.FieldManager)),
		owner:       unique.Make(full.GetAnnotations()[r.cfg.OwnerKey]),
		terminating: full.GetDeletionTimestamp() != nil,
		spared:      full.GetAnnotations()[apply.AnnotationKeep] == "true",
	}
	if servedKind(k.gk) == inventory.CRDKind {
		o.digest, o.blank = inventory.DefinitionDigest(full), isBlank(full)
	}
	o.judge(full, readLevel{health: k.hasHealth(), state: k.spec.needs.state})
	if k.spec.needs.keep {
		o.body = bodyOf(full.Object, full.GroupVersionKind())
	}
	return o
}

// applyHealthLocked acts on the health of a CustomResourceDefinition or a Namespace: one that is not ready is read again where
// no stream reports it, and an established definition triggers a new list of its kind. The caller holds the lock.
func (r *Runtime) applyHealthLocked(k *kind, at objectKey) {
	o := k.objects[at]
	switch {
	case o == nil || !k.hasHealth() || o.terminating:
	case !o.ready():
		if k.readsHealth() && !k.watched {
			r.readHealthLocked(k, at, firstPause/2)
		}
	case servedKind(k.gk) == inventory.CRDKind:
		_, group, _ := strings.Cut(at.name.Value(), ".")
		for gk, other := range r.kinds {
			if gk.Group == group && other.absent {
				other.fresh = true // what failed before the definition was established says nothing of what comes
				r.relistKindLocked(other)
			}
		}
	}
}

// noteDeleted records that our own DELETE was accepted, with the UID of the object where it was a precondition: where a stream will report
// the end, no read is needed soon. Where none will, the kind is listed again.
func (r *Runtime) noteDeleted(path string, uid types.UID) {
	group, resource, at, ok := objectPath(strings.TrimPrefix(path, strings.TrimSuffix(r.conn.base.Path, "/")))
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for gk, k := range r.kinds {
		if gk.Group != group || k.resource == nil || k.resource.Resource != resource || k.objects[at] == nil {
			continue
		}
		if k.watched {
			k.markDeletingLocked(at, uid)
			continue
		}
		if k.leaving == nil {
			k.leaving = make(map[objectKey]struct{})
		}
		k.leaving[at] = struct{}{}
		k.patience = 0
		r.planDeletionCheckLocked(k)
	}
}

// objectPath reads the path of one object: /api/v1/[namespaces/ns/]pods/name or /apis/group/version/[namespaces/ns/]things/name.
func objectPath(path string) (group, resource string, at objectKey, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return "", "", objectKey{}, false
	}
	switch {
	case len(parts) == 2:
		return group, parts[0], placeOf("", parts[1]), true
	case len(parts) == 4 && parts[0] == "namespaces":
		return group, parts[2], placeOf(parts[1], parts[3]), true
	}
	return "", "", objectKey{}, false
}
