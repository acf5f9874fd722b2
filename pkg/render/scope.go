package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Scope tells whether objects of a kind live in namespaces, and whether it knows. BuiltinScope is one.
type Scope func(schema.GroupVersionKind) (namespaced, known bool)

// FirstKnown asks scopes in turn and takes the first answer.
func FirstKnown(scopes ...Scope) Scope {
	return func(gvk schema.GroupVersionKind) (namespaced, known bool) {
		for _, scope := range scopes {
			if namespaced, known := scope(gvk); known {
				return namespaced, true
			}
		}
		return false, false
	}
}

// Learned is what CustomResourceDefinitions say about their kinds: whether they live in namespaces.
type Learned map[schema.GroupKind]bool

// Scope makes a Scope of it.
func (l Learned) Scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = l[gvk.GroupKind()]
	return namespaced, known
}

// Scopes learns the scopes of the kinds that the CustomResourceDefinitions among objs define.
func Scopes(objs []*unstructured.Unstructured) Learned {
	learned := Learned{}
	for _, object := range objs {
		gk := object.GroupVersionKind().GroupKind()
		if gk != inventory.CRDKind {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
		if group != "" && kind != "" && (scope == "Namespaced" || scope == "Cluster") {
			learned[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
		}
	}
	return learned
}

// BuiltinScope knows the kinds of Kubernetes' own API groups.
func BuiltinScope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	return inventory.BuiltinScope(gvk.GroupKind())
}
