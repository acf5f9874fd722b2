package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// podSpecs says where objects that run pods describe them.
var podSpecs = map[schema.GroupKind][]string{
	{Kind: "Pod"}:                        {"spec"},
	{Kind: "ReplicationController"}:      {"spec", "template", "spec"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template", "spec"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template", "spec"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template", "spec"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template", "spec"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template", "spec"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template", "spec"},
}

// eachPodSpec returns change a copy of every object that runs pods, with the description of its pods in it. What change says that it
// changed takes the place of the original; all other objects are returned as they came.
func eachPodSpec(
	objs []*unstructured.Unstructured, change func(id inventory.ID, pods map[string]any) (changed bool, err error),
) ([]*unstructured.Unstructured, error) {
	result := make([]*unstructured.Unstructured, 0, len(objs))
	for _, object := range objs {
		id := inventory.IDOf(object)
		path, runs := podSpecs[id.GroupKind()]
		if !runs {
			result = append(result, object)
			continue
		}
		edited, changed := object.DeepCopy(), false
		if pods := below(edited.Object, path); pods != nil {
			var err error
			if changed, err = change(id, pods); err != nil {
				return nil, &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf("%s: %w", id, err)}
			}
		}
		if changed {
			object = edited
		}
		result = append(result, object)
	}
	return result, nil
}

// below returns the map at the end of a path of maps; nil when there is none. What is malformed is for the API server to refuse.
func below(fields map[string]any, path []string) map[string]any {
	for _, name := range path {
		fields, _ = fields[name].(map[string]any)
	}
	return fields
}

// entries returns the maps of a list.
func entries(fields map[string]any, list string) []map[string]any {
	items, _ := fields[list].([]any)
	found := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if entry, ok := item.(map[string]any); ok {
			found = append(found, entry)
		}
	}
	return found
}
