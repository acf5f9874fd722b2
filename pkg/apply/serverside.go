package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// applied is the result of a server-side apply.
type applied struct {
	object    *unstructured.Unstructured
	overruled []FieldConflict
	yielded   bool
}

// apply makes a server-side apply of content to exactly the object with that UID:
//
//  1. It tries without force. Where no other manager has set a field to another value, that is all.
//  2. A conflict about the owner mark of an object that was not read (judged is false) is returned to the caller.
//  3. A conflict about spec.replicas of an object that an autoscaler targets yields: replicas is left out.
//  4. The rest is applied with force: what a module declares is enforced. The overruled fields and their managers are reported.
//
// Replicas can be left out safely only where another manager owns it too: server-side apply removes fields without an owner.
func (w *writing) apply(ctx context.Context, content *unstructured.Unstructured, uid types.UID, judged bool) (applied, error) {
	object, err := w.patch(ctx, content, uid, false)
	conflicts := conflictsOf(err)
	if len(conflicts) == 0 || (!judged && about(conflicts, w.markField())) {
		return applied{object: object}, err
	}
	result := applied{overruled: w.ofOthers(conflicts)}
	if about(result.overruled, replicasField) {
		if result.yielded, err = w.autoscaled(ctx, w.id); err != nil {
			return applied{}, err
		}
	}
	if result.yielded {
		content = withoutReplicas(content)
		result.overruled = without(result.overruled, replicasField)
	}
	result.object, err = w.patch(ctx, content, uid, true)
	return result, err
}

// applied returns the outcome of a server-side apply.
func (w *writing) applied(action Action, result applied) Outcome {
	outcome := w.succeeded(w.id, action, result.object)
	outcome.Overruled, outcome.Yielded = result.overruled, result.yielded
	return outcome
}

// patch makes one server-side apply. UID and resourceVersion never become owned fields: the API server strips them from managedFields.
func (w *writing) patch(
	ctx context.Context, content *unstructured.Unstructured, uid types.UID, force bool,
) (*unstructured.Unstructured, error) {
	content.SetUID(uid)
	content.SetResourceVersion(w.version)
	data, err := json.Marshal(content)
	content.SetUID("")
	content.SetResourceVersion("")
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	opts := metav1.PatchOptions{FieldManager: w.Manager, Force: &force, FieldValidation: metav1.FieldValidationStrict, DryRun: w.dryRun()}
	patched, err := w.client.Patch(ctx, w.id.Name, types.ApplyPatchType, data, opts)
	if err == nil {
		w.learned(patched)
	}
	return patched, err
}
