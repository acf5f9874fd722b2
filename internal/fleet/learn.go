package fleet

import (
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// learn takes an object as a write of ours returned it. It is in the store at once, and the stream's event of it is no news any more.
func (r *Runtime) learn(full *unstructured.Unstructured) {
	if full == nil {
		return
	}
	gk := full.GroupVersionKind().GroupKind()
	switch gk {
	case crdKind:
		r.served.learn(full)
	case apiServiceKind:
		r.surface.doubt()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[gk]
	if k == nil || !k.wish.needs.state && !r.cfg.Selector.Matches(labels.Set(full.GetLabels())) {
		return // no stream would ever take it back
	}
	at := placeOf(full.GetNamespace(), full.GetName())
	if k.wish.only != (place{}) && k.wish.only != at {
		return // neither would it
	}
	after := r.whole(full, k)
	before := k.objects[at]
	if before == nil && after.version != 0 && after.version <= k.seen {
		return // the stream has passed that moment, and the object has gone since
	}
	k.learned++
	if e, ok := r.echoes[subject{gk, at}]; ok && (after.version == 0 || e.version <= after.version) {
		delete(r.echoes, subject{gk, at})
	}
	switch {
	case !before.stale(after.version):
		r.put(k, at, before, after)
	case before.same(after):
		before.complete(after) // the stream was faster, and told metadata only
	}
	r.assessed(k, at)
}

// whole makes what is kept out of a complete object.
func (r *Runtime) whole(full *unstructured.Unstructured, k *kind) *object {
	o := &object{
		uid:         full.GetUID(),
		version:     numeric(full.GetResourceVersion()),
		fields:      unique.Make(inventory.FieldsOf(full, r.cfg.FieldManager)),
		owner:       unique.Make(full.GetAnnotations()[r.cfg.OwnerKey]),
		terminating: full.GetDeletionTimestamp() != nil,
		spared:      full.GetAnnotations()[apply.AnnotationKeep] == "true",
	}
	o.judge(full, needs{health: k.kept(), state: k.wish.needs.state})
	if k.wish.needs.keep {
		o.body = bodyOf(full.Object, full.GroupVersionKind())
	}
	return o
}

// assessed acts on the health of a CustomResourceDefinition or a Namespace as it is known now: one that is not ready is looked after
// where no stream tells of it, and a definition that is established makes its kind worth another look. The caller holds the lock.
func (r *Runtime) assessed(k *kind, at place) {
	o := k.objects[at]
	switch {
	case o == nil || !k.kept() || o.terminating:
	case !o.ready():
		if k.readable() && !k.watched {
			r.read(k, at)
		}
	case k.gk == crdKind:
		_, group, _ := strings.Cut(at.name.Value(), ".")
		for gk, other := range r.kinds {
			if gk.Group == group && other.absent {
				other.fresh = true // what failed before the definition was established says nothing of what comes
				r.relist(other)
			}
		}
	}
}

// removed takes note that a DELETE of ours was accepted, of the object with a UID where it named one: where a stream will tell of the end,
// nobody has to ask for it again soon. Where none will, somebody has to look, and who asks again learns it first.
func (r *Runtime) removed(path string, uid types.UID) {
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
			k.condemn(at, uid)
			continue
		}
		if k.leaving == nil {
			k.leaving = make(map[place]struct{})
		}
		k.leaving[at] = struct{}{}
		k.patience = 0
		r.settleDown(k)
	}
}

// objectPath reads the path of one object: /api/v1/[namespaces/ns/]pods/name or /apis/group/version/[namespaces/ns/]things/name.
func objectPath(path string) (group, resource string, at place, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return "", "", place{}, false
	}
	switch {
	case len(parts) == 2:
		return group, parts[0], placeOf("", parts[1]), true
	case len(parts) == 4 && parts[0] == "namespaces":
		return group, parts[2], placeOf(parts[1], parts[3]), true
	}
	return "", "", place{}, false
}
