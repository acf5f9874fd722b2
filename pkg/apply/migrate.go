package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// kubectlApply is the manager under which `kubectl apply` without --server-side owns what it declared.
const kubectlApply = "kubectl-client-side-apply"

// own is migrate without a read, for an object that is unchanged since our create: it turns the entry of the create into one of server-side
// apply. API servers sort the entries of server-side apply before all others, so where the first entry is that of our create, there is no
// apply entry that it could collide with. Any other object is read first.
func (w *writing) own(ctx context.Context) move {
	const entry = "/metadata/managedFields/0"
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": w.step.Entry.UID},
		{"op": "test", "path": entry + "/manager", "value": w.Manager},
		{"op": "test", "path": entry + "/operation", "value": metav1.ManagedFieldsOperationUpdate},
		{"op": "replace", "path": entry + "/operation", "value": metav1.ManagedFieldsOperationApply},
	})
	if err != nil {
		return moveTakeOver
	}
	migrated, err := w.client.Patch(ctx, w.id.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: w.Manager})
	if err != nil {
		return moveTakeOver
	}
	w.learned(migrated)
	if !strings.HasPrefix(inventory.FieldsOf(migrated, w.Manager), inventory.FieldsApplied) {
		return moveTakeOver
	}
	return moveChange
}

// migrate turns fields that a create wrote into fields that server-side apply owns, and can therefore remove. It reports whether there was
// anything to migrate. The patch carries the resourceVersion of live, because it could otherwise overwrite
// the managedFields of every manager.
//
// Fields that `kubectl apply` declared are included only when the object is adopted: there we succeed that installation, and fields that
// the new content no longer declares must go. On an object that is ours they are a user's addition, which stays.
func (w *writing) migrate(ctx context.Context, live *unstructured.Unstructured, action Action) (bool, error) {
	if w.dry { // the apply that follows would not see it; dropped makes up for that
		return false, nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, w.ours(action), w.Manager)
	if err != nil {
		return false, fmt.Errorf("migrate its managed fields: %w", err)
	}
	if patch == nil {
		return false, nil
	}
	migrated, err := w.client.Patch(ctx, w.id.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: w.Manager})
	if err != nil {
		return false, err
	}
	w.learned(migrated)
	return true, nil
}

// ours returns the managers whose fields become those of server-side apply.
func (w *writing) ours(action Action) sets.Set[string] {
	managers := sets.New(w.Manager)
	if action == Adopted {
		managers.Insert(kubectlApply)
	}
	return managers
}
