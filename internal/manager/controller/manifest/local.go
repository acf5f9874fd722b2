package manifest

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// admit refuses installations into the hub itself from a namespace that may not do that: there the operator acts as an account that may do
// everything, and a user who may write a Manifest and a ConfigMap would have the rights of that account.
//
//  1. A Manifest that names a ServiceAccount of its own namespace has the rights of that one, and no others.
//  2. An installation is refused, and what runs stays.
//  3. A removal continues, confined to what inventory and owner mark claim.
func (r *Reconciler) admit(w *scope) error {
	if !w.target.Local || r.InstallsLocally != nil && r.InstallsLocally(w.key.Namespace, w.target.Account.Name) {
		return nil
	}
	if !w.manifest.DeletionTimestamp.IsZero() {
		w.confined = true
		return nil
	}
	return &runtimes.Problem{
		Reason: v1beta2.ReasonLocalNamespaceRefused,
		Message: fmt.Sprintf("namespace %s may not install into the hub itself with the operator's rights: name a ServiceAccount of it in "+
			"spec.serviceAccountName, or the namespace in the operator's flag --local-namespaces, or delete this Manifest", w.key.Namespace),
	}
}

// seesModuleCRs reports whether the custom resources of the spec's kind may be read, and the default one be deleted. The spec alone is no
// reason where the namespace may not install: it can be changed to name any object of the hub.
func (w *scope) seesModuleCRs() bool {
	return w.manifest.Spec.Resource != nil && len(w.manifest.Spec.Resource.Object) > 0 && (!w.confined || w.ownCR)
}

// definesModuleCR reports whether this Manifest defined the kind of the default custom resource: its definition is in the inventory and
// carries the owner mark, so that all objects of the kind are deleted with it anyway.
func (w *scope) definesModuleCR(ctx context.Context) (bool, error) {
	if w.manifest.Spec.Resource == nil || len(w.manifest.Spec.Resource.Object) == 0 {
		return false, nil
	}
	kind := w.manifest.Spec.Resource.GroupVersionKind().GroupKind()
	for _, entry := range w.recorded {
		if entry.GroupKind() != inventory.CRDKind || !strings.HasSuffix(entry.Name, "."+kind.Group) {
			continue
		}
		live, err := w.runtime.Cluster().Dynamic.Resource(inventory.CRDResource).Get(ctx, entry.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, w.clusterProblem(entry.ID, err)
		}
		if defines(live, kind) && live.GetAnnotations()[v1beta2.AnnotationOwnedBy] == w.owner() {
			return true, nil
		}
	}
	return false, nil
}
