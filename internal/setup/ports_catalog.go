package setup

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/controller/catalog"
	"github.com/kyma-project/lifecycle-manager/internal/fleet"
	"github.com/kyma-project/lifecycle-manager/internal/mirror"
)

// catalogWorkers is how many catalogs are worked on at once: they are nobody's hurry.
const catalogWorkers = 4

func (a *assembly) newCatalogs() *catalog.Reconciler {
	catalogs := catalog.New(a.config.CatalogRate)
	catalogs.Client, catalogs.Fleet, catalogs.Mirror = a.mgr.GetClient(), catalogFleet{a.runtimes}, &mirror.Mirror{}
	catalogs.Shard, catalogs.Moves, catalogs.Restricted = a.sharing.owner(), a.sharing.moves(), a.config.RestrictedModules
	catalogs.Backoff = flowcontrol.NewBackOff(time.Second, longestPause)
	return catalogs
}

// catalogFleet joins the catalog controller and the fleet.
type catalogFleet struct{ fleet *fleet.Fleet }

// Get connects, and tells in the controller's words why it cannot.
func (p catalogFleet) Get(ctx context.Context, target catalog.Target) (catalog.Runtime, error) {
	runtime, err := p.fleet.Get(ctx, fleet.Target{
		Namespace: target.Namespace, Name: target.Name, Owner: fleet.Catalogs.Owner(target.Owner),
	})
	if problem, known := errors.AsType[*fleet.Problem](err); known {
		return nil, &catalog.Problem{Reason: problem.Reason, Message: problem.Message, Retry: problem.RetryAfter}
	}
	if err != nil {
		return nil, err
	}
	return catalogRuntime{runtime}, nil
}

// Changed drops the connection when the access Secret no longer is what it was made from.
func (p catalogFleet) Changed(_ context.Context, namespace, name string) {
	p.fleet.Drop(namespace, name)
}

// Source wakes Kymas for their catalog.
func (p catalogFleet) Source() source.Source { return p.fleet.Source(fleet.Catalogs) }

type catalogRuntime struct{ *fleet.Runtime }

// Track asks for every change of the kinds' objects.
func (p catalogRuntime) Track(owner types.NamespacedName, kinds []schema.GroupVersionKind) {
	interests := make([]fleet.Interest, 0, len(kinds))
	for _, kind := range kinds {
		interests = append(interests, fleet.Interest{GroupVersionKind: kind, Mode: fleet.Copy})
	}
	p.Runtime.Track(fleet.Catalogs.Owner(owner), interests)
}

// Untrack forgets a Kyma.
func (p catalogRuntime) Untrack(owner types.NamespacedName) {
	p.Runtime.Untrack(fleet.Catalogs.Owner(owner))
}
