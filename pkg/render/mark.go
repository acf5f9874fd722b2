package render

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Marks are labels and annotations that every object gets.
type Marks struct {
	Labels      map[string]string
	Annotations map[string]string
	// Defaults are labels that an object gets only where the content sets none under the same key: the content may select by them.
	Defaults map[string]string
}

// Mark returns deep copies of objs that carry marks; where the content sets the same key, the mark wins, unless it is a default.
func Mark(objs []*unstructured.Unstructured, marks Marks) []*unstructured.Unstructured {
	marked := make([]*unstructured.Unstructured, 0, len(objs))
	for _, object := range objs {
		object = object.DeepCopy()
		if len(marks.Labels)+len(marks.Defaults) > 0 {
			object.SetLabels(union(union(maps.Clone(marks.Defaults), object.GetLabels()), marks.Labels))
		}
		if len(marks.Annotations) > 0 {
			object.SetAnnotations(union(object.GetAnnotations(), marks.Annotations))
		}
		marked = append(marked, object)
	}
	return marked
}

// union is own with added on top; own is a copy already, which the accessors of unstructured objects guarantee too.
func union(own, added map[string]string) map[string]string {
	if own == nil {
		own = make(map[string]string, len(added))
	}
	maps.Copy(own, added)
	return own
}
