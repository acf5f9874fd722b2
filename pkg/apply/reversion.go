package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// isVersionGone reports whether an apply failed because the fields that it owns were applied in a version that the definition does not have
// any more: the API server cannot convert the object to that version, to find out what to remove. It has no reason code for it.
func isVersionGone(err error) bool {
	return err != nil && strings.Contains(err.Error(), "request to convert CR to an invalid group/version")
}

// reversion says that the fields that we own by server-side apply are of the version of the content. The next apply compares them in that
// one, and removes what the content does not declare any more.
func (w *writing) reversion(ctx context.Context, live *unstructured.Unstructured) error {
	ops := []map[string]any{{"op": "test", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()}}
	for i, entry := range live.GetManagedFields() {
		if entry.Manager == w.Manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			path := fmt.Sprintf("/metadata/managedFields/%d/apiVersion", i)
			ops = append(ops, map[string]any{"op": "replace", "path": path, "value": w.object.GetAPIVersion()})
		}
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	changed, err := w.client.Patch(ctx, w.id.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: w.Manager})
	if err == nil {
		w.learned(changed)
	}
	return err
}
