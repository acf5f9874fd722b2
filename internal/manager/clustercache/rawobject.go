package clustercache

import (
	"encoding/json"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// rawObject is a whole object as JSON, which takes a fifth of the memory of the same object as a map. The status is separate,
// because our own writes change everything but the status, and that is how the event of one is recognised. The object has the
// resourceVersion.
type rawObject struct{ rest, status string }

// bodyOf returns a rawObject without managedFields and resourceVersion. It does not change full.
func bodyOf(full map[string]any, gvk schema.GroupVersionKind) *rawObject {
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
	b := &rawObject{}
	if status := rest["status"]; status != nil {
		b.status = text(status)
	}
	delete(rest, "status")
	b.rest = text(rest)
	return b
}

// text marshals a value with sorted keys, so that equal values have equal texts.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // what was read as JSON can be written as JSON
		return ""
	}
	return string(data)
}

// object unmarshals the object.
func (b *rawObject) object(version uint64) *unstructured.Unstructured {
	full := wire.ReadMap(json.RawMessage(b.rest))
	if full == nil {
		return nil
	}
	if b.status != "" {
		var status any
		if wire.ReadValue(json.RawMessage(b.status), &status) == nil {
			full["status"] = status
		}
	}
	if metadata, ok := full["metadata"].(map[string]any); ok && version != 0 {
		metadata["resourceVersion"] = strconv.FormatUint(version, 10)
	}
	return &unstructured.Unstructured{Object: full}
}

// Kept reports whether an object is known to carry the annotation that protects it from deletion, in every mode: so a caller that deletes
// what Live returns needs no read.
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

// Object returns an object of a kind that an owner tracks with Keep, whole but for its managedFields, as the stream or our own write showed
// it last. The caller may change it. ok is false for other kinds, for objects that do not exist, and while the kind is being listed: the
// owners that set Keep are enqueued after the list.
func (r *Runtime) Object(id inventory.ID) (full *unstructured.Unstructured, ok bool) {
	r.mu.RLock()
	var o *object
	if k := r.kinds[id.GroupKind()]; k != nil && k.spec.needs.keep {
		o = k.objects[placeOf(id.Namespace, id.Name)]
	}
	var kept *rawObject
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
