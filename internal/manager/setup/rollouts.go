package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/kyma"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/modulerollout"
	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// rolloutWorkers is the number of rollouts that are counted at once.
const rolloutWorkers = 2

// lookForRollouts finds out whether this manager can carry out ModuleRollouts.
func (a *assembly) lookForRollouts(ctx context.Context) (err error) {
	a.rollouts, err = findRollouts(ctx, a.mgr.GetAPIReader(), a.config.Namespace, a.log)
	a.sharing.view.rollouts = a.rollouts
	return err
}

// findRollouts finds out with one read whether there can be ModuleRollouts. The hub may lack their definition, or the manager the rights: it
// starts without them, and a release that is marked for a rollout gives no Kyma another version.
func findRollouts(ctx context.Context, live client.Reader, namespace string, log logr.Logger) (bool, error) {
	err := live.List(ctx, &v1beta2.ModuleRolloutList{}, client.InNamespace(namespace), client.Limit(1))
	switch {
	case err == nil:
		return true, nil
	case apimeta.IsNoMatchError(err), apierrors.IsNotFound(err):
		log.Info("ModuleRollouts are not carried out, since the hub does not have their definition: " +
			"apply config/crd/bases/operator.kyma-project.io_modulerollouts.yaml and restart the manager")
		return false, nil
	case apierrors.IsForbidden(err):
		log.Info("ModuleRollouts are not carried out, since the manager may not list them: "+
			"apply config/rbac/role.yaml and restart the manager", "reason", err.Error())
		return false, nil
	default:
		return false, fmt.Errorf("list the ModuleRollouts of the hub: %w", err)
	}
}

// newRollouts returns the controller of ModuleRollouts.
func (a *assembly) newRollouts() (*modulerollout.Reconciler, error) {
	published, err := metrics.NewRollouts(a.registry)
	if err != nil {
		return nil, err
	}
	return &modulerollout.Reconciler{
		Client: a.mgr.GetClient(), Reader: a.mgr.GetAPIReader(),
		Indexes: modulerollout.Indexes{Module: kyma.IndexModule, Kyma: kyma.IndexKyma},
		Digests: rolloutDigests{a.components}, Windows: a.windows, Restricted: a.config.RestrictedModules,
		Events: a.mgr.GetEventRecorder("lifecycle-manager"), Metrics: published,
		Shard: a.sharing.owner(), Moves: a.sharing.moves(), Clock: twoClocks(time.Now()),
	}, nil
}

// twoClocks returns a reading of the wall clock, and of the monotonic one since a moment of this process.
func twoClocks(start time.Time) func() (wall time.Time, monotonic time.Duration) {
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(start)
	}
}

// carryOutRollouts adds the controller of ModuleRollouts, where the hub has them. It needs the indexes of the Kyma controller.
func (a *assembly) carryOutRollouts() error {
	if !a.rollouts {
		return nil
	}
	rollouts, err := a.newRollouts()
	if err != nil {
		return err
	}
	return rollouts.Setup(a.mgr, a.config.controller(rolloutWorkers, a.hooks))
}

// rolloutDigests knows the digests of components that were read.
type rolloutDigests struct{ components *componentsPort }

// Digest returns the digest of what a component version installs, empty unless it was read.
func (d rolloutDigests) Digest(key module.ComponentKey) string {
	component, known := d.components.now().Known(key)
	if !known || component.Source == nil {
		return ""
	}
	return revision.Of(module.ContentOf(key.Version, component)).Digest
}
