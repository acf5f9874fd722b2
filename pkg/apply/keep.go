package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AnnotationKeep ("true") protects an object from deletion: the object stays when the content drops it or the installation ends.
const AnnotationKeep = "operator.kyma-project.io/keep"

func kept(obj *unstructured.Unstructured) bool { return obj.GetAnnotations()[AnnotationKeep] == "true" }
