package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryDeleting is the safety net under the deletion events of kinds that are not watched.
const retryDeleting = 15 * time.Second

// remove takes the installation down:
//
//  1. Nothing was ever planned: the finalizers go.
//  2. The access Secret is gone: so is the runtime; the finalizers go and people are told. This is the force switch.
//  3. Objects that people made with the module, of whatever kind: they block, by name, and everything keeps running and healing. A kind
//     that cannot be looked at blocks as well.
//  4. The default CR is deleted, and the module's operator gets the time to finish it; it keeps running and healing meanwhile. Rules 3 and
//     4 do not hold for the kind of the default CR where another Manifest of the Kyma asks for the same one, which keeps it.
//  5. The objects in the waves of inventory.Teardown, each gone before the next begins; the operator, its RBAC and namespaces last.
//  6. The finalizers.
//
// What is in the hub itself, of a namespace that may not install there (any more), goes by rules 1, 5 and 6; by 3 and 4 only where the
// definition of the custom resource is ours; and nothing heals meanwhile.
func (r *Reconciler) remove(ctx context.Context, w *work) (finding, error) {
	if len(w.manifest.Status.Synced) == 0 && !w.moduleCRCreated() {
		return finding{gone: true}, r.dropFinalizers(ctx, w)
	}
	if err := r.connect(ctx, w); err != nil {
		return r.cannotReach(ctx, w, err)
	}
	blockade, err := r.blockade(ctx, w)
	r.track(w)
	if err != nil {
		return deleting(nil, err)
	}
	if blockade.Holds() {
		return deleting(r.blocked(ctx, w, blockade))
	}
	waiting, err := r.meanwhile(ctx, w, r.removeModuleCRs)
	if err != nil || waiting != nil {
		return deleting(waiting, err)
	}
	waiting, err = r.removeObjects(ctx, w)
	if err != nil || waiting != nil {
		return deleting(waiting, err)
	}
	return finding{gone: true}, r.dropFinalizers(ctx, w)
}

// deleting tells the same causes as an installation does, in state Deleting.
func deleting(waiting *finding, err error) (finding, error) {
	if problem := problemOf(err); problem != nil {
		if problem.Reason == v1beta2.ReasonRuntimeConnecting {
			return failed(problem), nil
		}
		found := finding{state: v1beta2.StateDeleting, reason: problem.Reason, message: problem.Message, retry: problem.Retry}
		if problem.Passing {
			found.reason = v1beta2.ReasonWaitingForDeletion
		}
		return found, nil
	}
	if stop, ok := errors.AsType[*stopped](err); ok {
		return finding(*stop), nil
	}
	if err != nil {
		return finding{}, err
	}
	return *waiting, nil
}

func (r *Reconciler) cannotReach(ctx context.Context, w *work, err error) (finding, error) {
	problem := problemOf(err)
	if problem == nil {
		return finding{}, err
	}
	if problem.Reason != v1beta2.ReasonAccessSecretNotFound {
		return deleting(nil, problem)
	}
	if err := r.dropFinalizers(ctx, w); err != nil {
		return finding{}, err
	}
	note := conditions.Note("What was installed is left behind: " + problem.Message)
	r.Events.Eventf(w.manifest, nil, corev1.EventTypeWarning, problem.Reason, "Delete", "%s", note)
	return finding{gone: true}, nil
}

// removeModuleCRs deletes the default CR. A nil finding means: it is gone, or not ours to delete.
func (r *Reconciler) removeModuleCRs(ctx context.Context, w *work) (*finding, error) {
	if !w.seesModuleCRs() || !w.hasModuleCR() {
		return nil, nil
	}
	if heir, err := r.moduleCRHeir(ctx, w); err != nil || heir != "" {
		return nil, err
	}
	resource, own, err := w.findModuleCR(ctx)
	if err != nil || own == nil {
		return nil, err
	}
	gone, err := w.deleteModuleCR(ctx, resource, own)
	if err != nil || gone {
		return nil, w.clusterProblem(inventory.IDOf(own), err)
	}
	message := fmt.Sprintf("%s: the default custom resource %s is being deleted", v1beta2.OperationWaitingModuleCRs, inventory.IDOf(own))
	if holds := apply.HeldBy(own); holds != "" {
		message += ", held by " + holds
	}
	return &finding{
		state: v1beta2.StateDeleting, reason: v1beta2.ReasonWaitingForDeletion, retry: retryDeleting, message: message,
	}, nil
}

// deleteModuleCR deletes the default CR and tells whether it is gone. Upstream put a finalizer on it that nobody else removes; those of
// the module's operator stay, because they say that it has something left to do.
func (w *work) deleteModuleCR(ctx context.Context, resource schema.GroupVersionResource, own *unstructured.Unstructured) (bool, error) {
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

// findModuleCR reads the default CR live; nil when there is none. That there is nothing of its kind is only believed when its definition is
// gone, too: an API server does not serve a kind for a moment after its definition was made or changed.
func (w *work) findModuleCR(ctx context.Context) (schema.GroupVersionResource, *unstructured.Unstructured, error) {
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

// undefined is an error while a definition that we installed still stands for a kind that is not served.
func (w *work) undefined(ctx context.Context, kind schema.GroupKind) error {
	definitions := w.runtime.Cluster().Dynamic.Resource(crdResource)
	for _, entry := range w.recorded {
		if entry.GroupKind() != crdKind || !strings.HasSuffix(entry.Name, "."+kind.Group) {
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
			return &Problem{
				Reason: v1beta2.ReasonWaitingForDeletion, Passing: true, Retry: time.Second,
				Message: fmt.Sprintf("%s: %s exists and the runtime does not serve the kind yet", v1beta2.OperationWaitingModuleCRs, entry.ID),
			}
		}
	}
	return nil
}

// served finds a kind in the version that is asked for, or in another one that the runtime serves: the version may be one that an upgrade
// brings, or one that it took away, and the objects are the same in all of them.
func served(ctx context.Context, cluster *apply.Cluster, gvk schema.GroupVersionKind) (resource apply.Resource, known bool, err error) {
	resource, err = cluster.ResourceInAnyVersion(ctx, gvk)
	if _, isUnknown := errors.AsType[*apply.UnknownKindError](err); isUnknown {
		return resource, false, nil
	}
	return resource, err == nil, err
}

// keepRunning heals and upgrades a module whose deletion is blocked, and tells whether its content was compared with the cluster. What
// cannot be done now is tried again: the block is what people have to know.
func (r *Reconciler) keepRunning(ctx context.Context, w *work) (compared bool, err error) {
	if w.confined || r.name(w) != nil {
		return false, nil //nolint:nilerr // what runs stays as it is
	}
	if w.applied() {
		return true, nil
	}
	err = r.bring(ctx, w)
	stop, early := errors.AsType[*stopped](err)
	switch {
	case early && !stop.gone && !stop.cut:
		return stop.parsed, nil
	case problemOf(err) != nil:
		return false, nil //nolint:nilerr // see above: the block is what has to be told
	default:
		return err == nil, err
	}
}

// removeObjects deletes wave by wave. A nil finding means: nothing is left.
func (r *Reconciler) removeObjects(ctx context.Context, w *work) (*finding, error) {
	var manager *inventory.ID
	if m := w.manifest.Spec.Manager; m != nil {
		manager = &inventory.ID{Group: m.Group, Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
	}
	recorded, err := r.leave(ctx, w, w.recorded)
	if err != nil {
		return nil, err
	}
	options := r.options(ctx, w)
	for _, wave := range inventory.Teardown(recorded, manager) {
		options.Heirs = r.heirs(ctx, w) // as they are now: a wave before may have taken its time
		waiting := r.delete(ctx, w, wave, options)
		if len(waiting) == 0 {
			continue
		}
		if firstError(waiting) != nil {
			return nil, w.refused(ctx, waiting)
		}
		if blocking := inUse(waiting); blocking != "" {
			return &finding{
				state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked, retry: retryDeleting,
				message: v1beta2.OperationWaitingModuleCRs + ": " + blocking,
			}, nil
		}
		return &finding{
			state: v1beta2.StateDeleting, reason: v1beta2.ReasonWaitingForDeletion, retry: retryDeleting,
			message: fmt.Sprintf("%s: %s left, first %s",
				v1beta2.OperationDeleting, english.Plural(len(w.recorded), "object", ""), firstHeld(waiting)),
		}, nil
	}
	return nil, nil
}

// firstHeld names the first object that finalizers hold, and whose they are; the first of all where none is held.
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

// release lets go of a module: its objects lose the mark and stay as they are, the Manifest goes.
func (r *Reconciler) release(ctx context.Context, w *work) (finding, error) {
	if w.manifest.DeletionTimestamp.IsZero() {
		if err := r.ensureFinalizers(ctx, w); err != nil {
			return finding{}, err
		}
		uid := w.manifest.UID
		if err := r.Client.Delete(ctx, w.before.DeepCopy(), client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return finding{}, fmt.Errorf("delete the unmanaged Manifest %s: %w", w.key, err)
		}
		return finding{gone: true}, nil // the deletion event brings us back for the rest
	}
	if len(w.manifest.Status.Synced) > 0 {
		err := r.connect(ctx, w)
		if problem := problemOf(err); problem != nil && problem.Reason == v1beta2.ReasonAccessSecretNotFound {
			err = nil
		} else if err == nil {
			err = r.unmark(ctx, w)
		}
		if err != nil {
			return deleting(nil, err)
		}
	}
	return finding{gone: true}, r.dropFinalizers(ctx, w)
}

func (r *Reconciler) unmark(ctx context.Context, w *work) error {
	heir := r.heirs(ctx, w)
	for _, entry := range w.recorded {
		if err := w.letGo(ctx, entry, heir(entry.ID)); err != nil {
			return w.clusterProblem(entry.ID, err)
		}
	}
	return nil
}

// letGo hands one object to the other Manifest that lists it, or takes the mark off it when there is none. What does not carry our
// mark any more is not ours to change.
func (w *work) letGo(ctx context.Context, entry inventory.Entry, heir string) error {
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
	case heir != "":
		metadata["annotations"] = map[string]any{v1beta2.AnnotationOwnedBy: heir}
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
