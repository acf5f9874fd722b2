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

// byHand are the managers under which kubectl and Helm own what they installed.
var byHand = []string{kubectlApply, "kubectl-create", "kubectl", "helm"}

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

// migrate turns fields that a create wrote into fields that server-side apply owns, and can therefore remove. It returns the object as it
// is then: live itself where there was nothing to migrate. The patch carries the resourceVersion of live, because it could otherwise
// overwrite the managedFields of every manager.
//
// Fields that another installer declared are included only when the object is adopted: there we succeed that installation, and fields that
// the new content no longer declares must go. On an object that is ours they are a user's addition, which stays.
func (w *writing) migrate(ctx context.Context, live *unstructured.Unstructured, action Action) (*unstructured.Unstructured, error) {
	if w.dry { // the apply that follows would not see it; dropped makes up for that
		return live, nil
	}
	ours := w.ours(action)
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(w.asUpdates(live, ours), ours, w.Manager)
	if err != nil {
		return nil, fmt.Errorf("migrate its managed fields: %w", err)
	}
	if patch == nil {
		return live, nil
	}
	migrated, err := w.client.Patch(ctx, w.id.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: w.Manager})
	if err != nil {
		return nil, err
	}
	w.learned(migrated)
	return migrated, nil
}

// ours returns the managers whose fields become those of server-side apply. A namespace that many use was not made for us alone: what
// others have declared of it stays.
func (w *writing) ours(action Action) sets.Set[string] {
	managers := sets.New(w.Manager)
	if action == Adopted && !w.keeps(w.id) {
		managers.Insert(byHand...)
		managers.Insert(w.Predecessors...)
	}
	return managers
}

// migrates reports whether the fields of an entry become those of our server-side apply: what the managers wrote as the object itself,
// apart from what our server-side apply owns already.
func (w *writing) migrates(entry metav1.ManagedFieldsEntry, ours sets.Set[string]) bool {
	return ours.Has(entry.Manager) && entry.Subresource == "" &&
		(entry.Operation == metav1.ManagedFieldsOperationUpdate || entry.Manager != w.Manager)
}

// asUpdates returns the object with the server-side apply of a predecessor as if it were an update: csaupgrade migrates only those.
func (w *writing) asUpdates(live *unstructured.Unstructured, ours sets.Set[string]) *unstructured.Unstructured {
	entries, applied := live.GetManagedFields(), false
	for i := range entries {
		if w.migrates(entries[i], ours) && entries[i].Operation != metav1.ManagedFieldsOperationUpdate {
			entries[i].Operation, applied = metav1.ManagedFieldsOperationUpdate, true
		}
	}
	if !applied {
		return live
	}
	live = live.DeepCopy()
	live.SetManagedFields(entries)
	return live
}

// Annotations of Helm on the objects of a release.
const (
	annotationHelmName      = "meta.helm.sh/release-name"
	annotationHelmNamespace = "meta.helm.sh/release-namespace"
)

// adoptedFrom returns a sentence about what an adopted object was before.
func adoptedFrom(live *unstructured.Unstructured) string {
	notes := live.GetAnnotations()
	name, namespace := shortened(notes[annotationHelmName], maxMark), shortened(notes[annotationHelmNamespace], maxMark)
	if name == "" {
		return "it exists already, and is taken over"
	}
	return fmt.Sprintf("it is taken over from the Helm release %q, whose record in namespace %q stays: while that is there, "+
		"helm uninstall deletes the object", name, namespace)
}
