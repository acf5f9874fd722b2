package fleet

import (
	"encoding/json"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// body is a whole object as JSON, which takes a fifth of the memory of the same object spelled out as a map. The status is apart, because
// writes of ours change everything but the status, and that is how the echo of one is recognised. The resourceVersion is the object's.
type body struct{ rest, status string }

// bodyOf makes a body without managedFields and resourceVersion. The object stays as it is.
func bodyOf(full map[string]any, gvk schema.GroupVersionKind) *body {
	rest := maps.Clone(full)
	if rest == nil {
		return nil
	}
	rest["apiVersion"], rest["kind"] = gvk.GroupVersion().String(), gvk.Kind // items of a list do not tell
	if metadata, ok := rest["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		delete(metadata, "resourceVersion")
		rest["metadata"] = metadata
	}
	b := &body{}
	if status := rest["status"]; status != nil {
		b.status = text(status)
	}
	delete(rest, "status")
	b.rest = text(rest)
	return b
}

// text spells a value out, with sorted keys, so that equal values have equal texts.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // what was read as JSON can be written as JSON
		return ""
	}
	return string(data)
}

// object spells a body out again.
func (b *body) object(version uint64) *unstructured.Unstructured {
	full := readMap(json.RawMessage(b.rest))
	if full == nil {
		return nil
	}
	if b.status != "" {
		var status any
		if readValue(json.RawMessage(b.status), &status) == nil {
			full["status"] = status
		}
	}
	if metadata, ok := full["metadata"].(map[string]any); ok && version != 0 {
		metadata["resourceVersion"] = strconv.FormatUint(version, 10)
	}
	return &unstructured.Unstructured{Object: full}
}

// Kept says that an object is known to carry the annotation that keeps it from being deleted, in every mode: so that whoever deletes
// what Live shows need not read it first.
func (r *Runtime) Kept(id inventory.ID) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[id.GroupKind()]
	if k == nil {
		return false
	}
	o := k.objects[placeOf(id.Namespace, id.Name)]
	return o != nil && o.spared
}

// Object is an object of a kind that somebody tracks with Keep, whole but for its managedFields, as the stream or a write of ours showed
// it last. The caller may change it. ok is false for other kinds, for what does not exist, and while the kind is being listed: the
// owners that asked for Keep are enqueued when that is over.
func (r *Runtime) Object(id inventory.ID) (full *unstructured.Unstructured, ok bool) {
	r.mu.RLock()
	var o *object
	if k := r.kinds[id.GroupKind()]; k != nil && k.wish.needs.keep {
		o = k.objects[placeOf(id.Namespace, id.Name)]
	}
	var kept *body
	var version uint64
	if o != nil {
		kept, version = o.body, o.version
	}
	r.mu.RUnlock()
	if kept == nil {
		return nil, false
	}
	full = kept.object(version)
	return full, full != nil
}
