package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AnnotationKeep ("true") on an object keeps it from ever being deleted: it stays behind when the content drops it or the installation
// ends.
const AnnotationKeep = "operator.kyma-project.io/keep"

func kept(obj *unstructured.Unstructured) bool { return obj.GetAnnotations()[AnnotationKeep] == "true" }
