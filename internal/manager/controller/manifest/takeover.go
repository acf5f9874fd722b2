package manifest

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// findTakenOver finds out which charts another installer has brought, whose place the Manifest takes. To their hooks, the first
// installation is an upgrade. It asks the cluster only before the first installation of what has hooks or generates values:
//
//  1. Another installation owns a part of what tells: refused, before a hook runs.
//  2. What is there was installed with other generated values: refused, since new ones would replace them.
func (r *Reconciler) findTakenOver(ctx context.Context, w *scope, parts []Part) error {
	w.takenOver = nil
	if w.leaves {
		return nil
	}
	options := r.options(ctx, w)
	adoptable := func(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
		return w.adoptable(ctx, object, options)
	}
	for i, part := range parts {
		generates := part.GeneratedAnew && !w.asksForNewValues()
		if w.installedBefore(part.Source.Name) || len(part.Hooks) == 0 && !generates {
			continue
		}
		found, err := w.order.TakesOver(ctx, i, adoptable)
		switch {
		case err != nil:
			return err
		case found && generates:
			return w.generatedLost("does not have those of the module that is installed: what is to be taken over has values that are not known")
		case found:
			w.takenOver = append(w.takenOver, part.Source.Name)
		}
	}
	return nil
}

// adoptable reports whether an object is there to be taken over: of no owner, or let go of by a Manifest of this name, which leaves the
// owner mark behind.
func (w *scope) adoptable(ctx context.Context, object *unstructured.Unstructured, options apply.Options) (bool, error) {
	id := inventory.IDOf(object)
	live, err := get(ctx, w.runtime.Cluster(), object)
	switch {
	case apierrors.IsNotFound(err), apply.Classify(err) == apply.ClassKindUnknown:
		return false, nil
	case err != nil:
		return false, w.clusterProblem(id, err)
	}
	adopts, err := options.Adopts(live)
	letGo := live.GetAnnotations()[v1beta2.AnnotationOwnedBy] == w.owner() && live.GetLabels()[v1beta2.LabelManagedBy] == "" &&
		live.GetDeletionTimestamp() == nil
	return adopts || letGo, w.clusterProblem(id, err)
}

// isOfDirect reports whether the default custom resource belongs to a direct installation that the Manifest never took over: it, or the
// definition of its kind, has the mark of that.
func (w *scope) isOfDirect(ctx context.Context, resource schema.GroupVersionResource, own *unstructured.Unstructured) (bool, error) {
	switch {
	case w.moduleCRCreated():
		return false, nil
	case installable.ClaimedDirectly(own) != "":
		return true, nil
	}
	name := resource.GroupResource().String()
	definition, err := w.runtime.Cluster().Dynamic.Resource(inventory.CRDResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, w.clusterProblem(inventory.IDOf(own), client.IgnoreNotFound(err))
	}
	return installable.ClaimedDirectly(definition) != "", nil
}
