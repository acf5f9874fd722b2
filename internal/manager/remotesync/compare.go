package remotesync

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// same reports whether a live object is as desired: it has all desired labels and annotations, and every desired part beside metadata and
// status equals the live one. What the API server adds to a CustomResourceDefinition by itself is no difference.
func same(wanted, live object) bool {
	if !subset(wanted.GetLabels(), live.GetLabels()) || !subset(wanted.GetAnnotations(), live.GetAnnotations()) {
		return false
	}
	before, after := content(live), content(wanted)
	for part, value := range after {
		if !equal(value, before[part]) {
			return false
		}
	}
	return true
}

// holds reports whether a live object equals the copy, and carries nothing that only an earlier one had.
func (c *DesiredObject) holds(live object) bool {
	return same(c.Object, live) && len(c.stale(live)) == 0
}

// stale returns the labels and annotations of a live object that an earlier copy had and this one has not, as a merge patch of its metadata
// that removes them. managedFields names their writers: what another manager wrote, too, is kept. An apply would remove only what was
// applied, and not what came with the object's creation.
func (c *DesiredObject) stale(live object) map[string]any {
	patch := map[string]any{}
	for part, has := range map[string][2]map[string]string{
		"labels":      {c.Object.GetLabels(), live.GetLabels()},
		"annotations": {c.Object.GetAnnotations(), live.GetAnnotations()},
	} {
		wanted, there := has[0], has[1]
		if subset(there, wanted) {
			continue
		}
		ours, others := writers(live, c.Manager, part)
		gone := map[string]any{}
		for key := range ours {
			_, is := there[key]
			if _, stays := wanted[key]; is && !stays && !others[key] && !ofNoCopy[key] {
				gone[key] = nil
			}
		}
		if len(gone) > 0 {
			patch[part] = gone
		}
	}
	return patch
}

// ofNoCopy are what a manager of copies writes to a namespace beside them: the claim, and the label that the API server gives each
// namespace that is created, in the name of its creator.
var ofNoCopy = map[string]bool{v1beta2.AnnotationHub: true, corev1.LabelMetadataName: true}

// writers returns the keys of a part of an object's metadata that a manager wrote, and those that others did.
func writers(live object, manager, part string) (ours, others map[string]bool) {
	ours, others = map[string]bool{}, map[string]bool{}
	for _, entry := range live.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata map[string]map[string]any `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue // the administrators of the runtime can write anything there
		}
		into := others
		if entry.Manager == manager {
			into = ours
		}
		for key := range fields.Metadata["f:"+part] {
			if name, ok := strings.CutPrefix(key, "f:"); ok {
				into[name] = true
			}
		}
	}
	return ours, others
}

// subset reports whether every pair of one is in the other.
func subset(one, other map[string]string) bool {
	for key, value := range one {
		if found, ok := other[key]; !ok || found != value {
			return false
		}
	}
	return true
}

// content returns the declared parts of an object by name: "spec", "data".
func content(whole object) map[string]any {
	parts := make(map[string]any, len(whole.Object))
	for part, value := range whole.Object {
		switch part {
		case "apiVersion", "kind", "metadata", "status":
		case "spec":
			if isDefinition(inventory.IDOf(whole)) {
				value = defaulted(value)
			}
			parts[part] = value
		default:
			parts[part] = value
		}
	}
	return parts
}

// equal reports whether two values are equal, where nothing equals something empty.
func equal(one, other any) bool {
	return alike(one, other) || empty(one) && empty(other)
}

// alike is reflect.DeepEqual for what JSON decodes to. It allocates nothing: a definition has thousands of values, and every new runtime
// compares three of them.
func alike(one, other any) bool {
	switch one := one.(type) {
	case map[string]any:
		other, ok := other.(map[string]any)
		if !ok || len(one) != len(other) {
			return false
		}
		for key, value := range one {
			if found, ok := other[key]; !ok || !alike(value, found) {
				return false
			}
		}
		return true
	case []any:
		other, ok := other.([]any)
		return ok && slices.EqualFunc(one, other, alike)
	default:
		switch other.(type) {
		case map[string]any, []any:
			return false
		}
		return one == other // strings, numbers, booleans and nil
	}
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// defaulted returns the spec of a CustomResourceDefinition with the API server's defaults.
func defaulted(spec any) any {
	fields, ok := spec.(map[string]any)
	if !ok {
		return spec
	}
	fields = maps.Clone(fields) // its schemas, which are large, are shared
	fill := func(parent, key, value string) {
		inner, isMap := fields[parent].(map[string]any)
		if _, found := inner[key]; found || !isMap && fields[parent] != nil {
			return // or the definition is none
		}
		filled := map[string]any{key: value}
		maps.Copy(filled, inner)
		fields[parent] = filled
	}
	kind, _, _ := unstructured.NestedString(fields, "names", "kind")
	fill("names", "listKind", kind+"List")
	fill("names", "singular", strings.ToLower(kind))
	fill("conversion", "strategy", "None")
	return fields
}

// difference returns a JSON merge patch that turns one map into another.
func difference(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for key, value := range to {
		before, after := from[key], value
		beforeMap, one := before.(map[string]any)
		afterMap, two := after.(map[string]any)
		switch {
		case one && two:
			if inner := difference(beforeMap, afterMap); len(inner) > 0 {
				patch[key] = inner
			}
		case !alike(before, after):
			patch[key] = after
		}
	}
	return patch
}
