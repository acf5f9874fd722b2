package inventory

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FieldsOf is FieldsHash of a decoded object. It does not decode the object's managed fields into entries first, which costs more than all
// other processing of the response to a write.
func FieldsOf(object *unstructured.Unstructured, manager string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "managedFields")
	entries, _ := value.([]any)
	var ours ownership
	for _, entry := range entries {
		entry, _ := entry.(map[string]any)
		if subresource, _ := entry["subresource"].(string); entry["manager"] != manager || subresource != "" {
			continue
		}
		sum, ok := hashTree(entry["fieldsV1"], 0)
		if !ok {
			return FieldsHash(object.GetManagedFields(), manager) // an API server does not write this
		}
		operation, _ := entry["operation"].(string)
		ours.add(operation, sum)
	}
	return ours.hash()
}

// hashTree hashes a decoded field set as the scanner hashes its text; false when it is something else.
func hashTree(value any, depth int) (sum uint64, ok bool) {
	tree, ok := value.(map[string]any)
	if !ok || depth > maxDepth {
		return 0, false
	}
	sum = fnvOffset
	for key, value := range tree {
		members, ok := hashTree(value, depth+1)
		if !ok {
			return 0, false
		}
		sum += mix(mix(hashText(key)) ^ members*fnvPrime)
	}
	return mix(sum), true
}
