package clustercache

import (
	"cmp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// ObjectVersion identifies one version of an object: its UID and resourceVersion, of a definition UID and inventory.DefinitionDigest. It is
// empty when the object is known not to exist, and known is false while its kind is not listed. An object that lost the label of owned
// objects counts as absent.
func (r *Runtime) ObjectVersion(id inventory.ID) (stamp string, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[id.GroupKind()]
	if k == nil {
		return "", false
	}
	o := k.objects[placeOf(id.Namespace, id.Name)]
	switch {
	case o != nil:
		return string(o.uid) + "/" + strconv.FormatUint(o.mark(), 10), true
	case k.synced:
		return "", true
	}
	return "", false
}

// Copies returns the objects of a kind that carry the label of owned objects, sorted; synced is false while the kind is not listed.
func (r *Runtime) Copies(gk schema.GroupKind) (ids []inventory.ID, synced bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[gk]
	if k == nil {
		return nil, false
	}
	ids = make([]inventory.ID, 0, len(k.objects))
	for at := range k.objects {
		ids = append(ids, inventory.ID{Group: gk.Group, Kind: gk.Kind, Namespace: at.namespace.Value(), Name: at.name.Value()})
	}
	slices.SortFunc(ids, func(a, b inventory.ID) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return ids, k.synced
}

// Served reports whether the runtime serves a kind; known is false until that was found out.
func (r *Runtime) Served(gk schema.GroupKind) (served, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[gk]
	if k == nil || !k.settled {
		return false, false
	}
	return !k.absent, true
}
