package render

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// DefaultNamespace is where objects go that name no namespace when no target namespace is requested.
const DefaultNamespace = "default"

// Normalise returns namespaced objects without a namespace targetNamespace (DefaultNamespace when that is empty), and takes the namespace
// from cluster-scoped ones. A namespace that the content names stays; kinds of unknown scope stay as they are. Objects that change are
// copies, the others are returned as they came. Two different objects that become the same by it are an error; of two equal ones the
// second is left out.
func Normalise(objs []*unstructured.Unstructured, targetNamespace string, scope Scope) ([]*unstructured.Unstructured, error) {
	if targetNamespace == "" {
		targetNamespace = DefaultNamespace
	}
	normal := make([]*unstructured.Unstructured, 0, len(objs))
	taken := make(map[inventory.ID]*unstructured.Unstructured, len(objs))
	for _, object := range objs {
		object = inNamespace(object, targetNamespace, scope)
		id := inventory.IDOf(object)
		if first, ok := taken[id]; ok {
			if !reflect.DeepEqual(first.Object, object.Object) {
				return nil, &content.Error{
					Reason: content.ReasonContentInvalid,
					Err:    fmt.Errorf("%s is declared twice, once with and once without its namespace: keep one of them", id),
				}
			}
			continue
		}
		taken[id] = object
		normal = append(normal, object)
	}
	return normal, nil
}

func inNamespace(object *unstructured.Unstructured, targetNamespace string, scope Scope) *unstructured.Unstructured {
	namespaced, known := scope(object.GroupVersionKind())
	if !known || namespaced == (object.GetNamespace() != "") {
		return object
	}
	object = object.DeepCopy()
	if namespaced {
		object.SetNamespace(targetNamespace)
	} else {
		object.SetNamespace("")
	}
	return object
}
