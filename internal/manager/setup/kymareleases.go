package setup

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/kyma"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/kymarelease"
)

// lookForKymaReleases finds out whether this manager can read KymaReleases.
func (a *assembly) lookForKymaReleases(ctx context.Context) (err error) {
	a.kymaReleases, err = findKymaReleases(ctx, a.mgr.GetAPIReader(), a.config.Namespace, a.log)
	a.sharing.view.kymaReleases = a.kymaReleases
	return err
}

// findKymaReleases finds out with one read whether there can be KymaReleases. The hub may lack their definition, or the manager the rights:
// it starts without them, and the modules of a Kyma that names one keep what runs.
func findKymaReleases(ctx context.Context, live client.Reader, namespace string, log logr.Logger) (bool, error) {
	err := live.List(ctx, &v1beta2.KymaReleaseList{}, client.InNamespace(namespace), client.Limit(1))
	switch {
	case err == nil:
		return true, nil
	case apimeta.IsNoMatchError(err), apierrors.IsNotFound(err):
		log.Info("KymaReleases are not read, since the hub does not have their definition: " +
			"apply config/crd/bases/operator.kyma-project.io_kymareleases.yaml and restart the manager")
		return false, nil
	case apierrors.IsForbidden(err):
		log.Info("KymaReleases are not read, since the manager may not list them: apply config/rbac/role.yaml and restart the manager",
			"reason", err.Error())
		return false, nil
	default:
		return false, fmt.Errorf("list the KymaReleases of the hub: %w", err)
	}
}

// reportKymaReleases adds the controller of KymaReleases, where the hub has them. It needs the indexes of the Kyma controller.
func (a *assembly) reportKymaReleases() error {
	if !a.kymaReleases {
		return nil
	}
	reports := &kymarelease.Reconciler{
		Client: a.mgr.GetClient(), Index: kyma.IndexRelease, Shard: a.sharing.owner(), Moves: a.sharing.moves(), Now: metav1.Now,
	}
	return reports.Setup(a.mgr, a.config.controller(1, a.hooks))
}
