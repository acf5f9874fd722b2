package setup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// identifyHub reads the identity of this hub: the UID of the operator's namespace. A hub that is restored from a backup of etcd keeps it,
// one that is made anew in another cluster has another. Unlike that of kube-system, a Role in the namespace suffices to read it.
func (a *assembly) identifyHub(ctx context.Context) error {
	found := &corev1.Namespace{}
	err := a.mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: a.config.OperatorNamespace}, found)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		a.log.Info("Runtimes are not claimed for this hub, since the manager may not read its namespace: "+
			"apply config/rbac/role.yaml and restart the manager", "namespace", a.config.OperatorNamespace, "reason", err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("read the namespace %s, which identifies this hub: %w", a.config.OperatorNamespace, err)
	}
	a.hubID = string(found.UID)
	return nil
}
