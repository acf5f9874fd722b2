package manifest

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// describedRights bounds the text about missing rights: the message of a condition has some room for it, and for what it means.
const describedRights = 700

// checkInstall refuses an installation by a ServiceAccount that lacks a right for it, or for its removal: what is installed in part, or
// cannot be removed, is worse than what is refused. All rights are looked at, also those for objects that are in order.
func (r *Reconciler) checkInstall(ctx context.Context, w *scope, prune []inventory.Entry) error {
	if !w.actsForAccount() {
		return nil
	}
	objects := slices.Concat(w.desired, slices.Concat(w.order.Hooks...))
	if w.hasModuleCR() {
		objects = append(objects, w.moduleCR())
	}
	return r.checkRights(ctx, w, "written", permissions.Work{Install: objects, Delete: idsOf(prune), Namespaces: w.namespaces})
}

// checkRemoval refuses a removal by a ServiceAccount that lacks a right for it.
func (r *Reconciler) checkRemoval(ctx context.Context, w *scope) error {
	if !w.actsForAccount() {
		return nil
	}
	ids := idsOf(w.recorded)
	if w.hasModuleCR() && w.moduleCRCreated() {
		ids = append(ids, inventory.IDOf(w.moduleCR()))
	}
	return r.checkRights(ctx, w, "deleted", permissions.Work{Delete: ids})
}

func idsOf(entries []inventory.Entry) []inventory.ID {
	ids := make([]inventory.ID, 0, len(entries))
	for _, entry := range entries {
		ids = append(ids, entry.ID)
	}
	return ids
}

// checkRights refuses work for which the account of the Manifest lacks a right; done says what is not done then.
func (r *Reconciler) checkRights(ctx context.Context, w *scope, done string, work permissions.Work) error {
	work.Kept = []string{v1beta2.RuntimeNamespace}
	if w.manifest.Spec.Resource != nil && len(w.manifest.Spec.Resource.Object) > 0 {
		work.List = append(work.List, w.manifest.Spec.Resource.GroupVersionKind().GroupKind())
	}
	for _, kind := range w.manifest.Spec.AssociatedResources {
		work.List = append(work.List, schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
	}
	var err error
	if work.Served, err = w.findServed(ctx, work.Install); err != nil {
		return err
	}
	needs := permissions.NeedsOf(work)
	if r.granted.has(w, needs) {
		w.permitted = true
		return nil
	}
	if work.Known, err = w.readBoundRoles(ctx, work.Install); err != nil {
		return err
	}
	missing, err := w.findMissing(ctx, permissions.NeedsOf(work))
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return &runtimes.Problem{
			Reason: v1beta2.ReasonMissingPermissions, Retry: retryRefused,
			Message: fmt.Sprintf("ServiceAccount %s lacks rights, and nothing is %s without them: give it, by a Role or ClusterRole that is "+
				"bound to it, %s", w.target.Account, done, permissions.DescribeNeeds(missing, describedRights)),
		}
	}
	r.granted.put(w, needs)
	w.permitted = true
	return nil
}

// findServed returns where the cluster serves the kinds of an installation, as far as it does. Each would be looked up for its first write
// anyway. What the content defines is served as that says.
func (w *scope) findServed(ctx context.Context, objects []*unstructured.Unstructured) (map[schema.GroupKind]permissions.Served, error) {
	kinds := map[schema.GroupKind]string{}
	for _, entry := range w.recorded {
		kinds[entry.GroupKind()] = entry.Version
	}
	for _, kind := range w.manifest.Spec.AssociatedResources {
		kinds[schema.GroupKind{Group: kind.Group, Kind: kind.Kind}] = kind.Version
	}
	if resource := w.manifest.Spec.Resource; resource != nil && len(resource.Object) > 0 {
		objects = append(slices.Clip(objects), resource)
	}
	for _, object := range objects {
		kinds[object.GroupVersionKind().GroupKind()] = object.GroupVersionKind().Version
	}
	found := map[schema.GroupKind]permissions.Served{}
	for kind, version := range kinds {
		if slices.ContainsFunc(w.desired, func(object *unstructured.Unstructured) bool { return defines(object, kind) }) {
			continue
		}
		resource, known, err := served(ctx, w.runtime.Cluster(), kind.WithVersion(version))
		if err != nil {
			return nil, w.clusterProblem(inventory.ID{Group: kind.Group, Kind: kind.Kind}, err)
		}
		if known {
			found[kind] = permissions.Served{Resource: resource.Resource, Namespaced: resource.Namespaced}
		}
	}
	return found, nil
}

// readBoundRoles reads the roles of the cluster that the objects bind: an account may bind them if it has their rights. They are read with
// the operator's own rights, and nothing of them is shown.
func (w *scope) readBoundRoles(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var known []*unstructured.Unstructured
	for _, id := range permissions.BoundRoles(objects) {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(id.GroupKind().WithVersion("v1"))
		object.SetNamespace(id.Namespace)
		object.SetName(id.Name)
		live, err := get(ctx, w.runtime.Own(), object)
		switch class := apply.Classify(err); {
		case err == nil:
			known = append(known, live)
		case !apierrors.IsNotFound(err) && class != apply.ClassForbidden:
			return nil, w.clusterProblem(id, err)
		}
	}
	return known, nil
}
