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

// own is migrate for an object that is unchanged since our create, without reading it: the entry that the create made becomes one
// of server-side apply. API servers sort the entries of server-side apply before all others, so where the first one is of our create there
// is none of apply that it could collide with. An object that is not like that is looked at.
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

// migrate turns fields that were written by a create into fields that server-side apply owns, and can therefore take back. It says
// whether there was anything to turn. The patch carries the resourceVersion of live: what it would overwrite otherwise is
// the managedFields of every manager.
//
// What `kubectl apply` declared is folded in only when the object is adopted: there it is the installation that we follow, and what the
// new content no longer declares has to go. On an object that is ours it is a user's addition, which stays.
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

// ours returns the managers whose fields are folded into those of server-side apply.
func (w *writing) ours(action Action) sets.Set[string] {
	managers := sets.New(w.Manager)
	if action == Adopted {
		managers.Insert(kubectlApply)
	}
	return managers
}
