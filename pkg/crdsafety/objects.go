package crdsafety

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// CompareAll compares the definitions that two contents have in common, such as two versions of a module. Its findings are refused in a
// cluster that has the first and receives the second, unless the objects in that cluster clear them.
func CompareAll(before, after []*unstructured.Unstructured) (findings []Finding) {
	old := map[string]*unstructured.Unstructured{}
	for _, object := range before {
		if isDefinition(object) {
			old[object.GetName()] = object
		}
	}
	for _, object := range after {
		if known := old[object.GetName()]; known != nil && isDefinition(object) {
			findings = append(findings, compareObjects(known, object)...)
		}
	}
	return findings
}

func isDefinition(object *unstructured.Unstructured) bool {
	kind := object.GroupVersionKind()
	return kind.Group == apiextensionsv1.GroupName && kind.Kind == "CustomResourceDefinition"
}

func compareObjects(before, after *unstructured.Unstructured) []Finding {
	old, err := typed(before)
	if err == nil {
		var changed *apiextensionsv1.CustomResourceDefinition
		if changed, err = typed(after); err == nil {
			return Compare(old, changed)
		}
	}
	message := "it cannot be read as a definition: " + quoted(err.Error())
	return []Finding{{Rule: UnknownChange, Definition: after.GetName(), Message: message}}
}

func typed(object *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return definition, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition)
}

// RefusedWhere returns which clusters refuse a change, as the end of a sentence: findings about values count only where objects exist.
func RefusedWhere(findings []Finding) string {
	for _, finding := range findings {
		if !finding.Values {
			return "in every cluster that has the definition"
		}
	}
	return "in every cluster that has an object of the kind"
}
