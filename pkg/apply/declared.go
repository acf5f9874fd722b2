package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Autoscalers returns a function for Options.Autoscaled. It reports whether a HorizontalPodAutoscaler in the content targets an object.
func Autoscalers(declared []*unstructured.Unstructured) func(inventory.ID) bool {
	targets := map[inventory.ID]bool{}
	for _, object := range declared {
		if kind := object.GroupVersionKind(); kind.Group != "autoscaling" || kind.Kind != "HorizontalPodAutoscaler" {
			continue
		}
		reference, _, _ := unstructured.NestedStringMap(object.Object, "spec", "scaleTargetRef")
		group, err := schema.ParseGroupVersion(reference["apiVersion"])
		if err != nil {
			continue // the API server reports what is wrong with it
		}
		targets[inventory.ID{Group: group.Group, Kind: reference["kind"], Namespace: object.GetNamespace(), Name: reference["name"]}] = true
	}
	return func(id inventory.ID) bool { return targets[id] }
}
