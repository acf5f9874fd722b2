package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryDeleting is the safety net under the deletion events of kinds that are not watched.
const retryDeleting = 15 * time.Second

// remove removes the installation:
//
//  1. Nothing was ever planned: the finalizers are removed.
//  2. The access Secret is gone: so is the runtime; or another hub has it. The finalizers are removed and an event is recorded. The
//     Secret is the force switch.
//     A ServiceAccount that removes must have the rights for all that follows: nothing is deleted before.
//  3. Objects that users created with the module, of whatever kind: they block, by name, and everything keeps running and being repaired. A
//     kind that cannot be read blocks as well.
//  4. The default CR is deleted, and the module's operator gets the time to finish it; it keeps running and being repaired meanwhile. Rules
//     3 and 4 skip the kind of the default CR where another Manifest of the Kyma requests the same CR, which keeps it.
//  5. The objects in the waves of inventory.Teardown, each gone before the next begins; the operator, its RBAC and namespaces last. The
//     hooks of charts run before and after that, see removeInstalled.
//  6. The finalizers.
//
// What is in the hub itself, of a namespace that may not install there (any more), is removed by rules 1, 5 and 6; by 3 and 4 only where
// the definition of the custom resource is ours; and nothing is repaired meanwhile.
func (r *Reconciler) remove(ctx context.Context, w *scope) (passResult, error) {
	if len(w.manifest.Status.Synced) == 0 && !w.moduleCRCreated() && !hasFirstPlan(w.manifest) && !w.owesHooks() {
		return passResult{gone: true}, r.dropFinalizers(ctx, w)
	}
	if err := r.connect(ctx, w); err != nil {
		return r.cannotReach(ctx, w, err)
	}
	if err := r.checkRemoval(ctx, w); err != nil {
		r.track(w)
		return deleting(err)
	}
	blockade, err := r.blockade(ctx, w)
	r.track(w)
	if err != nil {
		return deleting(err)
	}
	if blockade.Holds() {
		return deleting(r.blocked(ctx, w, blockade))
	}
	if err := r.keepRunningDuring(ctx, w, r.removeModuleCRs); err != nil {
		return deleting(err)
	}
	if err := r.removeInstalled(ctx, w); err != nil {
		return deleting(err)
	}
	return passResult{gone: true}, r.dropFinalizers(ctx, w)
}

// deleting reports the same causes as an installation does, in state Deleting.
func deleting(err error) (passResult, error) {
	if problem := problemOf(err); problem != nil {
		if problem.Reason == v1beta2.ReasonRuntimeConnecting {
			return failed(problem), nil
		}
		found := passResult{state: v1beta2.StateDeleting, reason: problem.Reason, message: problem.Message, retry: problem.Retry}
		if problem.Passing {
			found.reason = v1beta2.ReasonWaitingForDeletion
		}
		return found, nil
	}
	if result := resultOf(err); result != nil {
		return *result, nil //nolint:nilerr // the error is the result
	}
	return passResult{}, err
}

func (r *Reconciler) cannotReach(ctx context.Context, w *scope, err error) (passResult, error) {
	problem := problemOf(err)
	if problem == nil {
		return passResult{}, err
	}
	if !leavesBehind(problem) {
		return deleting(problem)
	}
	if err := r.dropFinalizers(ctx, w); err != nil {
		return passResult{}, err
	}
	note := conditions.Note("What was installed is left behind: " + problem.Message)
	r.Events.Eventf(w.manifest, nil, corev1.EventTypeWarning, problem.Reason, "Delete", "%s", note)
	return passResult{gone: true}, nil
}

// leavesBehind reports whether a runtime that cannot be used will never be ours to remove something from: its access is gone, or another
// hub has it, which looks after what is installed there.
func leavesBehind(problem *runtimes.Problem) bool {
	return problem.Reason == v1beta2.ReasonAccessSecretNotFound || problem.Reason == v1beta2.ReasonRuntimeClaimed
}

// removeModuleCRs deletes the default CR. Nil means that it is gone, or not ours to delete.
func (r *Reconciler) removeModuleCRs(ctx context.Context, w *scope) error {
	if !w.seesModuleCRs() || !w.hasModuleCR() {
		return nil
	}
	if successor, err := r.moduleCRSuccessor(ctx, w); err != nil || successor != "" {
		return err
	}
	resource, own, err := w.findModuleCR(ctx)
	if err != nil || own == nil {
		return err
	}
	if others, err := w.isOfDirect(ctx, resource, own); err != nil || others {
		return err
	}
	gone, err := w.deleteModuleCR(ctx, resource, own)
	if err != nil || gone {
		return w.clusterProblem(inventory.IDOf(own), err)
	}
	message := fmt.Sprintf("%s: the default custom resource %s is being deleted", v1beta2.OperationWaitingModuleCRs, inventory.IDOf(own))
	if holds := apply.HeldBy(own); holds != "" {
		message += ", held by " + holds
	}
	return &passResult{
		state: v1beta2.StateDeleting, reason: v1beta2.ReasonWaitingForDeletion, retry: retryDeleting, message: message,
	}
}

// deleteModuleCR deletes the default CR and reports whether it is gone. It removes the finalizer that upstream put on it, which no other
// program would; those of the module's operator stay, because they mean that it has work left to do.
func (w *scope) deleteModuleCR(ctx context.Context, resource schema.GroupVersionResource, own *unstructured.Unstructured) (bool, error) {
	cr := w.runtime.Cluster().Dynamic.Resource(resource).Namespace(own.GetNamespace())
	if own.GetDeletionTimestamp().IsZero() {
		uid, background := own.GetUID(), metav1.DeletePropagationBackground
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background}
		err := cr.Delete(ctx, own.GetName(), options)
		if err == nil {
			own, err = cr.Get(ctx, own.GetName(), metav1.GetOptions{})
		}
		if err != nil {
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}
	}
	if own.GetDeletionTimestamp().IsZero() || !controllerutil.RemoveFinalizer(own, v1beta2.FinalizerModuleCR) {
		return false, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": own.GetResourceVersion(), "finalizers": own.GetFinalizers(),
	}})
	if err != nil {
		return false, err
	}
	_, err = cr.Patch(ctx, own.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: v1beta2.FieldManagerModuleCR})
	return apierrors.IsNotFound(err) || (err == nil && len(own.GetFinalizers()) == 0), client.IgnoreNotFound(err)
}

// findModuleCR reads the default CR live; nil when there is none. An unserved kind only counts as empty when its definition is gone, too:
// an API server does not serve a kind for a moment after its definition was created or changed.
func (w *scope) findModuleCR(ctx context.Context) (schema.GroupVersionResource, *unstructured.Unstructured, error) {
	want := w.moduleCR()
	cluster, gvk, id := w.runtime.Cluster(), want.GroupVersionKind(), inventory.IDOf(want)
	resource, known, err := served(ctx, cluster, gvk)
	if err != nil {
		return schema.GroupVersionResource{}, nil, w.clusterProblem(id, err)
	}
	if !known {
		return schema.GroupVersionResource{}, nil, w.undefined(ctx, gvk.GroupKind())
	}
	at := cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(want.GetNamespace())
	if !resource.Namespaced {
		at = cluster.Dynamic.Resource(resource.GroupVersionResource)
	}
	own, err := at.Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case apply.Classify(err) == apply.ClassKindUnknown:
		return resource.GroupVersionResource, nil, w.undefined(ctx, gvk.GroupKind())
	case err != nil:
		return resource.GroupVersionResource, nil, w.clusterProblem(id, client.IgnoreNotFound(err))
	}
	return resource.GroupVersionResource, own, nil
}

// undefined returns an error while a definition that we installed still exists for a kind that is not served.
func (w *scope) undefined(ctx context.Context, kind schema.GroupKind) error {
	definitions := w.runtime.Cluster().Dynamic.Resource(inventory.CRDResource)
	for _, entry := range w.recorded {
		if entry.GroupKind() != inventory.CRDKind || !strings.HasSuffix(entry.Name, "."+kind.Group) {
			continue
		}
		live, err := definitions.Get(ctx, entry.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return w.clusterProblem(entry.ID, err)
		}
		named, _, _ := unstructured.NestedString(live.Object, "spec", "names", "kind")
		if named == kind.Kind && live.GetDeletionTimestamp().IsZero() {
			return &runtimes.Problem{
				Reason: v1beta2.ReasonWaitingForDeletion, Passing: true, Retry: time.Second,
				Message: fmt.Sprintf("%s: %s exists and the runtime does not serve the kind yet", v1beta2.OperationWaitingModuleCRs, entry.ID),
			}
		}
	}
	return nil
}

// served finds a kind in the requested version, or in another one that the runtime serves: an upgrade may add or remove the version, and
// the objects are the same in all of them.
func served(ctx context.Context, cluster *apply.Cluster, gvk schema.GroupVersionKind) (resource apply.Resource, known bool, err error) {
	resource, err = cluster.ResourceInAnyVersion(ctx, gvk)
	if _, isUnknown := errors.AsType[*apply.UnknownKindError](err); isUnknown {
		return resource, false, nil
	}
	return resource, err == nil, err
}

// keepRunning repairs and upgrades a module whose deletion is blocked, and reports whether its content was compared with the cluster. What
// cannot be done now is tried again: users must learn of the block first.
func (r *Reconciler) keepRunning(ctx context.Context, w *scope) (compared bool, err error) {
	if w.confined || r.readSources(w) != nil {
		return false, nil //nolint:nilerr // what runs stays as it is
	}
	if w.applied() {
		return true, nil
	}
	err = r.applyDesired(ctx, w)
	result := resultOf(err)
	switch {
	case result.waits():
		return result.parsed, nil
	case problemOf(err) != nil:
		return false, nil //nolint:nilerr // see above: the block is what must be told
	default:
		return err == nil, err
	}
}

// removeObjects deletes what is not spared, wave by wave. Nil means that nothing of it is left.
func (r *Reconciler) removeObjects(ctx context.Context, w *scope, spared func(inventory.ID) bool) error {
	var manager *inventory.ID
	if m := w.manifest.Spec.Manager; m != nil {
		manager = &inventory.ID{Group: m.Group, Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
	}
	recorded, err := r.markLeaving(ctx, w, w.recorded)
	if err != nil {
		return err
	}
	recorded = slices.DeleteFunc(slices.Clone(recorded), func(entry inventory.Entry) bool { return spared(entry.ID) })
	remover := r.remover(w, r.options(ctx, w), false)
	waiting := engine.DeleteWaves(ctx, inventory.Teardown(recorded, manager), false, remover).Outcomes
	if len(waiting) == 0 {
		return nil
	}
	if firstError(waiting) != nil {
		return w.refused(ctx, waiting)
	}
	if blocking := inUse(waiting); blocking != "" {
		return &passResult{
			state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked, retry: retryDeleting,
			message: v1beta2.OperationWaitingModuleCRs + ": " + blocking,
		}
	}
	return &passResult{
		state: v1beta2.StateDeleting, reason: v1beta2.ReasonWaitingForDeletion, retry: retryDeleting,
		message: fmt.Sprintf("%s: %s left, first %s",
			v1beta2.OperationDeleting, english.Plural(len(w.recorded), "object", ""), firstHeld(waiting)),
	}
}

// firstHeld names the first object that finalizers hold, with their owners; the first of all where none is held.
func firstHeld(waiting []apply.Outcome) string {
	for _, outcome := range waiting {
		if outcome.Object == nil {
			continue
		}
		if holds := apply.HeldBy(outcome.Object); holds != "" {
			return outcome.ID.String() + ", held by " + holds
		}
	}
	return waiting[0].ID.String()
}

// release stops managing a module: its objects lose the mark and stay as they are, the Manifest is deleted.
func (r *Reconciler) release(ctx context.Context, w *scope) (passResult, error) {
	if w.manifest.DeletionTimestamp.IsZero() {
		if err := r.ensureFinalizers(ctx, w); err != nil {
			return passResult{}, err
		}
		uid := w.manifest.UID
		if err := r.Client.Delete(ctx, w.before.DeepCopy(), client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return passResult{}, fmt.Errorf("delete the unmanaged Manifest %s: %w", w.key, err)
		}
		return passResult{gone: true}, nil // the deletion event brings us back for the rest
	}
	if len(w.manifest.Status.Synced) > 0 || hasFirstPlan(w.manifest) {
		err := r.connect(ctx, w)
		if problem := problemOf(err); problem != nil && leavesBehind(problem) {
			err = nil
		} else if err == nil {
			err = r.unmark(ctx, w)
		}
		if err != nil {
			return deleting(err)
		}
	}
	return passResult{gone: true}, r.dropFinalizers(ctx, w)
}

func (r *Reconciler) unmark(ctx context.Context, w *scope) error {
	successor := r.findSuccessor(ctx, w)
	for _, entry := range w.recorded {
		if err := w.releaseObject(ctx, entry, successor(entry.ID)); err != nil {
			return w.clusterProblem(entry.ID, err)
		}
	}
	return nil
}

// releaseObject hands one object over to the other Manifest that lists it, or removes the mark when there is none. An object that no longer
// carries our mark is not ours to change.
func (w *scope) releaseObject(ctx context.Context, entry inventory.Entry, successor string) error {
	cluster := w.runtime.Cluster()
	resource, known, err := served(ctx, cluster, entry.GroupKind().WithVersion(entry.Version))
	if err != nil || !known {
		return err
	}
	objects := cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(entry.Namespace)
	live, err := objects.Get(ctx, entry.Name, metav1.GetOptions{})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	metadata := map[string]any{"resourceVersion": live.GetResourceVersion()}
	switch {
	case live.GetAnnotations()[v1beta2.AnnotationOwnedBy] != w.owner():
		return nil
	case successor != "":
		metadata["annotations"] = map[string]any{v1beta2.AnnotationOwnedBy: successor}
	case live.GetLabels()[v1beta2.LabelManagedBy] == "":
		return nil
	default:
		metadata["labels"] = map[string]any{v1beta2.LabelManagedBy: nil}
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = objects.Patch(ctx, entry.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: v1beta2.FieldManagerModule})
	return client.IgnoreNotFound(err)
}
