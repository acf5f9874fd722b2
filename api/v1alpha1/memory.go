package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// AnnotationHub is on objects of v1alpha1 and holds what only v1beta2 can say of them.
	AnnotationHub = v1beta2.OperatorPrefix + "v1beta2"
	// AnnotationSpoke is on objects of v1beta2 and holds what only v1alpha1 can say of them.
	AnnotationSpoke = v1beta2.OperatorPrefix + "v1alpha1"
)

// converted returns the metadata of an object in the other version, with no annotation of ours but the one that must be remembered.
func converted(meta *metav1.ObjectMeta, annotation string, memory any) (metav1.ObjectMeta, error) {
	result := *meta.DeepCopy()
	maps.DeleteFunc(result.Annotations, func(name, _ string) bool { return name == AnnotationHub || name == AnnotationSpoke })
	if memory != nil {
		data, err := json.Marshal(memory)
		if err != nil {
			return result, fmt.Errorf("cannot write the annotation %s: %w", annotation, err)
		}
		metav1.SetMetaDataAnnotation(&result, annotation, string(data))
	}
	if len(result.Annotations) == 0 {
		result.Annotations = nil
	}
	return result, nil
}

// readAnnotation reads an annotation of ours; without it memory stays as it is.
func readAnnotation(meta *metav1.ObjectMeta, annotation string, memory any) error {
	text, found := meta.Annotations[annotation]
	if !found {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(memory); err != nil {
		return fmt.Errorf("the annotation %s cannot be read: %w: it is the operator's own; restore it, or edit the object as v1beta2",
			annotation, err)
	}
	return nil
}
