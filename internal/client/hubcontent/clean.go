package hubcontent

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// exportedGeneration stands in an export for the generation of the object itself; one that was made anew has it.
const exportedGeneration = 1

// clean removes from an object what belongs to its cluster, as opposed to what it says:
//
//   - the metadata but for name, namespace, labels and annotations. The UID of an owner would be of an object that is not there, for which
//     the garbage collector deletes, and finalizers are set by the controllers, before they do anything that needs them;
//   - what kubectl noted of its last apply, since it repeats what a Secret holds;
//   - the generations in a status, which count from 1 where the object is made anew: each says now whether it was the current one.
func clean(o *unstructured.Unstructured) {
	renumber(o, o.GetGeneration(), exportedGeneration)
	keep(o)
}

// keep removes all metadata but for name, namespace, labels and annotations.
func keep(o *unstructured.Unstructured) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	delete(annotations, v1beta2.AnnotationImport)
	delete(annotations, v1beta2.AnnotationTakeOverFrom) // the one who imports asks for a take-over
	metadata := map[string]any{"name": o.GetName()}
	if namespace := o.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	o.Object["metadata"] = metadata
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
	if len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
}

// renumber replaces the generation of an object by another one in all that its status says, and every other one by that of a status that is
// late.
func renumber(o *unstructured.Unstructured, from, to int64) {
	status, _ := o.Object["status"].(map[string]any)
	if status == nil {
		return
	}
	renumberField(status, "observedGeneration", from, to, -1)
	renumberField(status, "appliedGeneration", from, to, 0)
	conditions, _ := status["conditions"].([]any)
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok {
			renumberField(fields, "observedGeneration", from, to, 0)
		}
	}
}

func renumberField(fields map[string]any, name string, from, to, late int64) {
	said, there := fields[name].(int64)
	switch {
	case !there:
	case said == from:
		fields[name] = to
	default:
		fields[name] = late
	}
}

// cleanNamespace removes from a namespace everything but its name and the labels that are not the API server's.
func cleanNamespace(o *unstructured.Unstructured) {
	labels := o.GetLabels()
	delete(labels, corev1.LabelMetadataName)
	o.Object = map[string]any{"apiVersion": "v1", "kind": kindNamespace, "metadata": map[string]any{"name": o.GetName()}}
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
}

// dropStatus removes a status that says nothing where the object goes.
func dropStatus(o *unstructured.Unstructured) { unstructured.RemoveNestedField(o.Object, "status") }

// setAnnotation sets one annotation.
func setAnnotation(o *unstructured.Unstructured, name, value string) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	o.SetAnnotations(annotations)
}
