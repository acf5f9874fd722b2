package signcoverage

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const whereResource = "spec.resource"

// DefaultCR returns a problem if a default custom resource differs from the signed one, which is nil where the component has none. With
// free, any resource of a kind that the content defines is accepted.
func DefaultCR(signed, asked *unstructured.Unstructured, objects []*unstructured.Unstructured, free bool) []Problem {
	if asked == nil || len(asked.Object) == 0 {
		return nil
	}
	kind := asked.GroupVersionKind().GroupKind()
	switch {
	case signed != nil && sameCustomResource(signed, asked):
		return nil
	case free && defines(objects, kind):
		return nil
	case free:
		return []Problem{problem(whereResource, "a %s: it is no kind that the content defines", kind)}
	case signed == nil:
		return []Problem{problem(whereResource, "%s %s: the component has no resource %s. Publish it with one, or add %q to allow of the rule",
			asked.GetKind(), asked.GetName(), descriptor.ResourceDefaultCR, descriptor.AllowCustomResources)}
	default:
		return []Problem{problem(whereResource,
			"%s %s: it differs from resource %s of the component. Take that one, or add %q to allow of the rule",
			asked.GetKind(), asked.GetName(), descriptor.ResourceDefaultCR, descriptor.AllowCustomResources)}
	}
}

// sameCustomResource compares the desired state of two objects. A Kyma's Manifest sets a missing name, and sets a missing namespace to that
// of modules.
func sameCustomResource(signed, asked *unstructured.Unstructured) bool {
	signed, asked = bare(signed), bare(asked)
	if signed.GetName() == "" {
		asked.SetName("")
	}
	namespace := asked.GetNamespace()
	if namespace == "" || signed.GetNamespace() == "" && namespace == v1beta2.RuntimeNamespace {
		signed.SetNamespace("")
		asked.SetNamespace("")
	}
	return equality.Semantic.DeepEqual(signed.Object, asked.Object)
}

// bare returns a copy of an object without the fields that an API server writes and without empty metadata, and with all numbers of one
// type.
func bare(object *unstructured.Unstructured) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	raw, err := json.Marshal(object.Object)
	if err == nil {
		err = json.Unmarshal(raw, &made.Object)
	}
	if err != nil {
		return object.DeepCopy() // no value from JSON or YAML gets here
	}
	delete(made.Object, "status")
	metadata, _ := made.Object["metadata"].(map[string]any)
	kept := map[string]any{}
	for _, field := range []string{"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"} {
		switch value := metadata[field].(type) {
		case nil:
		case map[string]any:
			if len(value) > 0 {
				kept[field] = value
			}
		default:
			kept[field] = value
		}
	}
	made.Object["metadata"] = kept
	return made
}

// defines reports whether the content contains the definition of a kind.
func defines(objects []*unstructured.Unstructured, kind schema.GroupKind) bool {
	return slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
		if object.GroupVersionKind().GroupKind() != inventory.CRDKind {
			return false
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		return group == kind.Group && name == kind.Kind
	})
}
