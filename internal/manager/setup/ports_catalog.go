package setup

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/modulecatalog"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// catalogWorkers is the number of catalogs that are reconciled at once: they are not urgent.
const catalogWorkers = 4

func (a *assembly) newCatalogs() *modulecatalog.Reconciler {
	catalogs := modulecatalog.New(a.config.CatalogRate)
	catalogs.Client, catalogs.Clusters, catalogs.Syncer = a.mgr.GetClient(), catalogFleet{a.runtimes}, &remotesync.Syncer{}
	catalogs.Shard, catalogs.Moves, catalogs.Restricted = a.sharing.owner(), a.sharing.moves(), a.config.RestrictedModules
	catalogs.Backoff = flowcontrol.NewBackOff(time.Second, longestPause)
	return catalogs
}

// catalogFleet connects the catalog controller to the fleet.
type catalogFleet struct{ fleet *clustercache.Clusters }

// Get connects to a runtime.
func (p catalogFleet) Get(ctx context.Context, target modulecatalog.Target) (modulecatalog.Runtime, error) {
	runtime, err := p.fleet.Get(ctx, clustercache.Target{
		Namespace: target.Namespace, Name: target.Name, Owner: clustercache.Catalogs.Owner(target.Owner),
	})
	if err != nil {
		return nil, err
	}
	return catalogRuntime{runtime}, nil
}

// Changed drops the connection when the access Secret differs from the one that it was made with.
func (p catalogFleet) Changed(_ context.Context, namespace, name string) {
	p.fleet.InvalidateAccess(namespace, name)
}

// Source enqueues Kymas for their catalog.
func (p catalogFleet) Source() source.Source { return p.fleet.Source(clustercache.Catalogs) }

type catalogRuntime struct{ *clustercache.Runtime }

// Track subscribes to every change of the kinds' objects.
func (p catalogRuntime) Track(owner types.NamespacedName, kinds []schema.GroupVersionKind) {
	interests := make([]runtimes.Interest, 0, len(kinds))
	for _, kind := range kinds {
		interests = append(interests, runtimes.Interest{GroupVersionKind: kind, Mode: runtimes.Copy})
	}
	p.Runtime.Track(clustercache.Catalogs.Owner(owner), interests)
}

// Untrack ends the subscriptions of a Kyma.
func (p catalogRuntime) Untrack(owner types.NamespacedName) {
	p.Runtime.Untrack(clustercache.Catalogs.Owner(owner))
}
