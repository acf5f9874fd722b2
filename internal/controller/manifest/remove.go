package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryDeleting is the safety net under the deletion events of kinds that are not watched.
const retryDeleting = 15 * time.Second

// remove takes the installation down:
//
//  1. Nothing was ever planned: the finalizers go.
//  2. The access Secret is gone: so is the runtime; the finalizers go and people are told. This is the force switch.
//  3. Custom resources of the module that a user made: they block, by name, and everything keeps running and healing.
//  4. The default CR is deleted, and the module's operator gets the time to finish it.
//  5. The objects in waves, each gone before the next begins; the operator, its RBAC and namespaces last.
//  6. The finalizers.
func (r *Reconciler) remove(ctx context.Context, w *work) (finding, error) {
	if len(w.manifest.Status.Synced) == 0 && !isTrue(w.manifest.Status.Conditions, v1beta2.ConditionModuleCR) {
		return finding{gone: true}, r.dropFinalizers(ctx, w)
	}
	if err := r.connect(ctx, w); err != nil {
		return r.cannotReach(ctx, w, err)
	}
	r.track(w)
	waiting, err := r.removeModuleCRs(ctx, w)
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
		return finding{state: v1beta2.StateDeleting, reason: problem.Reason, message: problem.Message, retry: problem.Retry}, nil
	}
	var stop *stopped
	if errors.As(err, &stop) {
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
	if problem.Reason == v1beta2.ReasonAccessSecretNotFound {
		r.Events.Eventf(w.manifest, nil, corev1.EventTypeWarning, problem.Reason, "Delete", "What was installed is left behind: %s", problem.Message)
		return finding{gone: true}, r.dropFinalizers(ctx, w)
	}
	return deleting(nil, problem)
}

// removeModuleCRs deletes the default CR once no other custom resource of the module is left. A nil finding means: none is left.
func (r *Reconciler) removeModuleCRs(ctx context.Context, w *work) (*finding, error) {
	if w.manifest.Spec.Resource == nil || len(w.manifest.Spec.Resource.Object) == 0 {
		return nil, nil
	}
	resource, crs, err := r.listModuleCRs(ctx, w)
	if err != nil || len(crs) == 0 {
		return nil, err
	}
	var own *unstructured.Unstructured
	var blocking []string
	want := w.moduleCR()
	for i := range crs {
		cr := &crs[i]
		isDefault := cr.GetName() == want.GetName() && (cr.GetNamespace() == want.GetNamespace() || cr.GetNamespace() == "")
		if isDefault && w.hasModuleCR() {
			own = cr
			continue
		}
		blocking = append(blocking, strings.TrimPrefix(cr.GetNamespace()+"/"+cr.GetName(), "/"))
	}
	if len(blocking) > 0 {
		return r.blocked(ctx, w, want.GetKind(), blocking)
	}
	if own.GetDeletionTimestamp().IsZero() {
		uid, background := own.GetUID(), metav1.DeletePropagationBackground
		err := w.runtime.Cluster().Dynamic.Resource(resource).Namespace(own.GetNamespace()).Delete(ctx, own.GetName(),
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, w.clusterProblem(err)
		}
		if _, err := get(ctx, w.runtime.Cluster(), own); apierrors.IsNotFound(err) {
			return nil, nil
		}
	}
	return &finding{
		state: v1beta2.StateDeleting, reason: v1beta2.ReasonWaitingForDeletion, retry: retryDeleting,
		message: fmt.Sprintf("%s: the default custom resource %s is being deleted", v1beta2.OperationWaitingModuleCRs, inventory.IDOf(own)),
	}, nil
}

// listModuleCRs reads live: what is deleted next takes every custom resource of the kind with it.
func (r *Reconciler) listModuleCRs(ctx context.Context, w *work) (schema.GroupVersionResource, []unstructured.Unstructured, error) {
	cluster := w.runtime.Cluster()
	resource, err := cluster.Resource(ctx, w.manifest.Spec.Resource.GroupVersionKind())
	var unknown *apply.UnknownKindError
	if errors.As(err, &unknown) {
		return schema.GroupVersionResource{}, nil, nil
	}
	if err != nil {
		return schema.GroupVersionResource{}, nil, w.clusterProblem(err)
	}
	list, err := cluster.Dynamic.Resource(resource.GroupVersionResource).List(ctx, metav1.ListOptions{Limit: 100})
	if apierrors.IsNotFound(err) {
		return resource.GroupVersionResource, nil, nil
	}
	if err != nil {
		return resource.GroupVersionResource, nil, w.clusterProblem(err)
	}
	return resource.GroupVersionResource, list.Items, nil
}

// blocked keeps the module running, also through upgrades, while a user's custom resources exist.
func (r *Reconciler) blocked(ctx context.Context, w *work, kind string, names []string) (*finding, error) {
	source, problem := sourceOf(w.manifest.Spec)
	if w.source = source; problem == nil && !w.settledButModuleCR() {
		if err := r.want(ctx, w); err == nil {
			r.track(w)
			w.resolved()
			if err := r.plan(ctx, w); err != nil {
				return nil, err
			}
			// What cannot be applied now is tried again at the next event; the block is what has to be told.
			_ = r.act(ctx, w, inventory.Decide(w.recorded, w.desired, w.runtime.Live))
		}
	}
	shown := names
	if len(shown) > 5 {
		shown = shown[:5]
	}
	message := fmt.Sprintf("%s: delete the %s %s", v1beta2.OperationWaitingModuleCRs, kind, strings.Join(shown, ", "))
	if more := len(names) - len(shown); more > 0 {
		message += fmt.Sprintf(" and %d more", more)
	}
	return &finding{state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked, message: message, parsed: true}, nil
}

func (w *work) settledButModuleCR() bool {
	status := w.manifest.Status
	return status.ObservedGeneration == w.manifest.Generation && len(status.Resolved) == 1 && status.Resolved[0].Digest == w.source.Ref &&
		!inventory.Drifted(w.recorded, w.runtime.Live)
}

// removeObjects deletes wave by wave. A nil finding means: nothing is left.
func (r *Reconciler) removeObjects(ctx context.Context, w *work) (*finding, error) {
	var manager *inventory.ID
	if m := w.manifest.Spec.Manager; m != nil {
		manager = &inventory.ID{Group: m.Group, Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
	}
	options := r.options(ctx, w)
	for _, wave := range inventory.Teardown(w.recorded, manager) {
		waiting := w.delete(ctx, wave, options)
		if len(waiting) == 0 {
			continue
		}
		if firstError(waiting) != nil {
			return nil, w.refused(waiting)
		}
		return &finding{
			state: v1beta2.StateDeleting, reason: v1beta2.ReasonWaitingForDeletion, retry: retryDeleting,
			message: fmt.Sprintf("%s: %d objects are left, first %s", v1beta2.OperationDeleting, len(w.recorded), waiting[0].ID),
		}, nil
	}
	return nil, nil
}

// release lets go of a module: its objects lose the mark and stay as they are, the Manifest goes.
func (r *Reconciler) release(ctx context.Context, w *work) (finding, error) {
	if len(w.manifest.Status.Synced) > 0 {
		if err := r.connect(ctx, w); err != nil {
			if problem := problemOf(err); problem == nil || problem.Reason != v1beta2.ReasonAccessSecretNotFound {
				return r.failure(err)
			}
		} else if err := w.unmark(ctx); err != nil {
			return r.failure(err)
		}
	}
	if w.manifest.DeletionTimestamp.IsZero() {
		uid := w.manifest.UID
		if err := r.Client.Delete(ctx, w.before.DeepCopy(), client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return finding{}, fmt.Errorf("delete the unmanaged Manifest %s: %w", w.key, err)
		}
		return finding{gone: true}, nil // the deletion event brings us back for the finalizers
	}
	return finding{gone: true}, r.dropFinalizers(ctx, w)
}

func (w *work) unmark(ctx context.Context) error {
	cluster := w.runtime.Cluster()
	for _, entry := range w.recorded {
		resource, err := cluster.Resource(ctx, schema.GroupVersionKind{Group: entry.Group, Version: entry.Version, Kind: entry.Kind})
		var unknown *apply.UnknownKindError
		if errors.As(err, &unknown) {
			continue
		}
		if err != nil {
			return w.clusterProblem(err)
		}
		metadata := map[string]any{"labels": map[string]any{v1beta2.LabelManagedBy: nil}}
		if entry.UID != "" {
			metadata["uid"] = entry.UID
		}
		patch, err := json.Marshal(map[string]any{"metadata": metadata})
		if err != nil {
			return err
		}
		_, err = cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(entry.Namespace).
			Patch(ctx, entry.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: v1beta2.FieldManagerModule})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return w.clusterProblem(err)
		}
	}
	return nil
}
